"""Loading bibliographies: BibTeX and CSL-JSON files, or a folder of them.

An entry becomes a published paper with its authors' profiles, memberships and topics. Invalid entries are reported by
file and line; the others are loaded. Loading a file again updates existing papers and creates no duplicates.
``bibtex.py`` and ``csl.py`` read the formats, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from keyplan import Create, Delete, Put, Update
from keyplan.errors import ErrorDetail, ItemExists, KeyplanError, RequestError, StoreError, WriteFailed
from keyplan.systems import LoadReport, Progress
from keyplan_systems.lines import Steps, count_lines, readable
from keyplan_systems.papers.csl import read_csl
from keyplan_systems.papers.design import (
    AUTHORS_MAX,
    DETAILS,
    EDITORS_MAX,
    FURTHER_CHARACTERS_MAX,
    FURTHER_MAX,
    LISTED_CHARACTERS_MAX,
    TOPICS_MAX,
    Author,
    Collection,
    Membership,
    Paper,
    Papers,
    PaperTopic,
    PaperWithAuthors,
)
from keyplan_systems.papers.records import Person, Record, Trouble, handle_of
from keyplan_systems.papers.searching import rebuild
from keyplan_systems.site.searching import refill_beside

CSL = (".json", ".jsonl")
KNOWN = (".bib", ".bibtex", *CSL)
TOPIC_CHARACTERS_MAX = 200
ATTEMPTS = 5
"""Attempts to update a paper that changes concurrently."""
LIMITS = {
    "title": 1000, "abstract": 20_000, "collection": 500, "url": 1000, "volume": 200, "issue": 200, "pages": 200,
    "publisher": 200,
}  # fmt: skip
"""Characters of a paper's texts: longer ones are truncated, which is reported."""


def load(design: Papers, path: Path, progress: Progress) -> LoadReport:
    """Load a bibliography, or all those of a folder; ``loaded`` counts the imported papers.

    Raises RequestError for a folder without any and for a file that can't be read, StoreError when the store can't be
    written.
    """
    from keyplan_systems.papers.bibtex import BibtexFiles  # noqa: PLC0415 - only imports of BibTeX files need its libraries

    report = LoadReport()
    files = _files(path)
    with readable(path):
        counts = [count_lines(element) for element in files]
        steps = Steps(progress, sum(counts))
        csl = {file for file in files if _is_csl(file)}
        bibtex = BibtexFiles([file for file in files if file not in csl])
        met: set[str] = set()
        for file, lines in zip(files, counts, strict=True):
            place = file.name if file == path else file.relative_to(path).as_posix()
            loading = _Loading(design, place, report, met)
            for result in read_csl(file) if file in csl else bibtex.read(file):
                loading.take(result)
                steps.at(result.line)
            steps.done(lines)
    refill_beside(design.store.url, partial(rebuild, design))
    return report


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = (each for each in sorted(path.rglob("*")) if each.suffix.lower() in KNOWN and not each.is_symlink())
    paths = [each for each in found if each.is_file() and not _is_hidden(each.relative_to(path))]
    if not paths:
        raise RequestError(
            f"{path} contains no bibliography", hint=f"pass a file, or a folder with {' or '.join(KNOWN)} files"
        )
    return paths


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_csl(path: Path) -> bool:
    """By its suffix; without a known one, by its first character."""
    if path.suffix.lower() in KNOWN:
        return path.suffix.lower() in CSL
    with path.open("rb") as file:
        return file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"[", b"{"}


@dataclass
class _Loading:
    """The loading of one file."""

    design: Papers
    place: str
    """The file, relative to the folder that is imported."""
    report: LoadReport
    met: set[str]
    """The ids of all files' entries."""
    authors: set[str] = field(default_factory=set[str])
    """Handles with a profile."""
    collections: set[str] = field(default_factory=set[str])
    """Collections that are known to be listed."""

    def take(self, record: Record | Trouble) -> None:
        """Import one entry, and report its errors."""
        if isinstance(record, Trouble):
            self._tell(record.line, record.message, record.hint)
            return
        if {".", ".."} & {*record.paper_id.split("/")}:
            self._tell(record.line, f"the id {record.paper_id} can't be used in a URL", "change the id of the entry")
            return
        if record.paper_id in self.met:
            self._tell(record.line, f"{record.paper_id} is the id of an earlier entry", "give each entry a unique id")
            return
        self.met.add(record.paper_id)
        try:
            self._take_in(record)
        except StoreError:
            raise
        except ValidationError as error:
            said = (
                f"{'.'.join(map(str, element['loc']))}: {element['msg']}" for element in error.errors(include_url=False)
            )
            self._tell(record.line, f"entry {record.paper_id}: {'; '.join(said)}")
        except KeyplanError as error:
            where = f"{self.place}:{record.line}"
            self.report.fault(ErrorDetail(where, f"entry {record.paper_id}: {error.message}", error.hint, error.code))
        else:
            self.report.loaded += 1

    def _tell(self, line: int, message: str, hint: str | None = None) -> None:
        self.report.fault(ErrorDetail(f"{self.place}:{line}", message, hint))

    def _take_in(self, record: Record) -> None:
        """Create or update a paper, its memberships and its topics."""
        given = {name: getattr(record, name) for name in LIMITS}
        texts: dict[str, Any] = {
            name: self._cut(record, name, text, LIMITS[name]) for name, text in given.items() if text
        }
        paper = Paper(
            paper_id=record.paper_id,
            kind=record.kind[:500],
            status="published",
            published_at=record.published_at,
            updated_at=record.published_at,
            topics=set(self._bounded(record, "topics", self._topics(record), TOPICS_MAX)),
            doi=record.doi,
            editors=[
                self._cut(record, "name of an editor", name, 500)
                for name in self._bounded(record, "editors", record.editors, EDITORS_MAX)
            ]
            or None,
            further=self._further(record) or None,
            **texts,
        )
        members = list(self._members(record))
        self._profiles(members)
        if paper.collection not in self.collections and len(paper.collection) <= LISTED_CHARACTERS_MAX:
            if self.design.collection(paper.collection) is None:
                self.design.put(Collection(collection=paper.collection))
            self.collections.add(paper.collection)
        topics = [
            PaperTopic(paper_id=paper.paper_id, topic=topic, published_at=record.published_at)
            for topic in sorted(paper.topics)
        ]
        try:
            self.design.transact([Create(paper), *map(Create, members), *map(Create, topics)])
        except ItemExists:
            if not self._bring_up(paper, members):
                raise  # another program wrote memberships without a paper

    def _bring_up(self, paper: Paper, members: Sequence[Membership]) -> bool:
        """Update a paper if it exists; repeat after a concurrent change."""
        for attempt in range(1, ATTEMPTS + 1):
            stored = self.design.paper_with_authors(paper.paper_id)
            if stored is None:
                break
            try:
                self._update(stored, paper, members)
            except WriteFailed:
                if attempt == ATTEMPTS:
                    raise
            else:
                return True
        return False

    def _members(self, record: Record) -> Iterator[Membership]:
        """The contributors in order, without duplicates."""
        people: dict[str, Person] = {}
        for person in record.people:
            handle = handle_of(person.name)
            before = people.setdefault(handle, person) if handle else None
            if before is not None and before.name != person.name:
                message = f"{person.name!r} and {before.name!r} have the same handle: only {before.name!r} is listed"
                self._tell(record.line, f"entry {record.paper_id}: {message}", "add an initial to one of the names")
            if not handle:
                self._tell(record.line, f"entry {record.paper_id}: the name {person.name!r} has no letters or digits")
        for position, handle in enumerate(self._bounded(record, "authors", list(people), AUTHORS_MAX), 1):
            yield Membership(
                paper_id=record.paper_id,
                handle=handle,
                role=people[handle].role,
                position=position,
                name=self._cut(record, "name of an author", people[handle].name, 500),
                published_at=record.published_at,
            )

    def _topics(self, record: Record) -> Sequence[str]:
        """The keywords that may be topics; longer ones are reported."""
        for topic in record.topics:
            if len(topic) > TOPIC_CHARACTERS_MAX:
                message = f"a keyword is too long (maximum: {TOPIC_CHARACTERS_MAX} characters): {topic[:40]!r}"
                self._tell(record.line, f"entry {record.paper_id}: {message}", "separate keywords with commas")
        return [topic for topic in record.topics if len(topic) <= TOPIC_CHARACTERS_MAX]

    def _bounded(self, record: Record, what: str, result: Sequence[str], most: int) -> Sequence[str]:
        if len(result) > most:
            self._tell(record.line, f"entry {record.paper_id} has {len(result)} {what}: the first {most} are kept")
        return result[:most]

    def _cut(self, record: Record, what: str, text: str, most: int) -> str:
        if len(text) > most:
            self._tell(record.line, f"entry {record.paper_id}: the {what} is truncated to {most:,} characters")
        return text[:most]

    def _further(self, record: Record) -> dict[str, str]:
        """The further fields within their limits."""
        names = self._bounded(record, "further fields", list(record.further), FURTHER_MAX)
        return {name: self._cut(record, name, record.further[name], FURTHER_CHARACTERS_MAX) for name in names}

    def _profiles(self, members: Sequence[Membership]) -> None:
        """A profile for each author who has none."""
        new = [member for member in members if member.handle not in self.authors]
        if not new:
            return
        there = self.design.get_many(Author, [{"handle": membership.handle} for membership in new], consistent=True)
        missing = [membership for membership, author in zip(new, there, strict=True) if author is None]
        self.design.batch(Put(Author(handle=membership.handle, name=membership.name)) for membership in missing)
        self.authors.update(membership.handle for membership in new)

    def _update(self, stored: PaperWithAuthors, wanted: Paper, members: Sequence[Membership]) -> None:
        """Update a stored paper. A superseded one doesn't change."""
        before = stored.paper
        names = ("title", "abstract", "collection", "kind", "published_at", "topics", *DETAILS)
        changes: dict[str, Any] = {
            name: getattr(wanted, name) for name in names if getattr(wanted, name) != getattr(before, name)
        }
        there = {author.handle: author for author in stored.authors}
        actions: list[Any] = [Put(member) for member in members if there.pop(member.handle, None) != member]
        actions += [Delete(membership) for membership in there.values()]
        held = {paper_topic.topic: paper_topic for paper_topic in stored.topics}
        for topic in sorted(wanted.topics):
            paper_topic = PaperTopic(
                paper_id=wanted.paper_id, topic=topic, published_at=wanted.published_at or before.updated_at
            )
            if held.pop(topic, None) != paper_topic:
                actions.append(Put(paper_topic))
        actions += [Delete(paper_topic) for paper_topic in held.values()]
        if before.status == "superseded" or not (changes or actions):
            return
        changes["updated_at"] = max(before.updated_at, wanted.updated_at)
        self.design.transact(
            [
                Update(before, **changes).only_if(
                    status=before.status,
                    revision=before.revision,
                    topics=before.topics,
                    published_at=before.published_at,
                ),
                *actions,
            ]
        )
