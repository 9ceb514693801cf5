"""All that is known of each write of the tests' designs, by its code and by its runs, as it was agreed upon."""

from __future__ import annotations

from keyplan import Design
from tests.check import test_planted
from tests.client import test_attempts
from tests.client import test_writes as test_writes_of_clients
from tests.contract.design import Everything
from tests.cost.test_estimates import Books
from tests.designs_as_published import battle_royale, blog, cms, complaints, game_scores, recurring_payments, social
from tests.rehearsal import test_account, test_code, test_hindsight
from tests.rehearsal.kennels import Kennels
from tests.rehearsal.renamed import Things
from tests.rehearsal.spelt import Ships
from tests.rehearsal.spelt_within import MADE
from tests.studio.school import School
from tests.web.library import Library

DESIGNS: dict[str, type[Design]] = {
    "things": test_code.Things,
    "renamed": Things,
    "ships": Ships,
    "paints": MADE["design"],
    "callers": test_account.Caller,
    "joiners": test_account.Joiner,
    "trips": test_hindsight.Trips,
    "kennels": Kennels,
    "never": test_hindsight.Never,
    "everything": Everything,
    "school": School,
    "library": Library,
    "blog": blog.Blog,
    "cms": cms.Cms,
    "battles": battle_royale.BattleRoyale,
    "complaints": complaints.ComplaintManagement,
    "scores": game_scores.GameScores,
    "payments": recurring_payments.RecurringPayments,
    "books": Books,
    "exams": test_planted.Exams,
    "club": test_planted.Club,
    "attempts": test_attempts.Club,
    "orders": test_writes_of_clients.Shop,
    "social": social.Social,
}
