"""Import of products and orders from CSV: a folder with both files, or one file. Shopify's exports are recognized by
their columns; other files need the column names below, or a mapping.

Each row of ``orders.csv`` is a line of an order; the rows of an order are adjacent. A row that can't be loaded is
reported by file and line; an order is loaded as a whole or not at all. Importing again changes nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from keyplan import Create, Put
from keyplan.errors import ErrorDetail, ItemExists, KeyplanError, RequestError, StoreError, WriteFailed
from keyplan.systems import LoadReport, Progress
from keyplan_systems.lines import Steps, count_lines, readable
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import (
    LINES_MAX,
    Order,
    OrderEvent,
    OrderLine,
    OrderStatus,
    Payment,
    PaymentStatus,
    PostalAddress,
    Product,
    ProductDetails,
    Related,
    User,
)
from keyplan_systems.shop.searching import rebuild
from keyplan_systems.shop.shopify import ORDER_COLUMNS, PRODUCT_COLUMNS, orders_of, products_of
from keyplan_systems.shop.tables import Row, Table
from keyplan_systems.site.searching import refill_beside

PRODUCTS = "products.csv"
ORDERS = "orders.csv"
PRICE = ("price", "price_cents")
REMEMBERED_MAX = 20_000
"""Maximum number of cached products and users."""
STATUSES: dict[str, OrderStatus] = {value: value for value in get_args(OrderStatus)}


class _RowError(Exception):
    """An error in a row."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def load(design: Shop, path: Path, progress: Progress, *, columns: Mapping[str, str] | None = None) -> LoadReport:
    """Load ``products.csv`` and ``orders.csv`` of a folder, or one such file; ``loaded`` counts products and orders.

    Raises RequestError for a folder with neither and for a file that is neither, StoreError when the store can't be
    written.
    """
    report = LoadReport()
    files = _files(path)
    with readable(path):
        counts = [count_lines(element) for element in files]
        steps = Steps(progress, sum(counts))
        for file, lines in zip(files, counts, strict=True):
            _Loading(design, file, report, steps, columns or {}).run()
            steps.done(lines)
    refill_beside(design.store.url, partial(rebuild, design))
    return report


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    paths = [path / name for name in (PRODUCTS, ORDERS) if (path / name).is_file()]
    if not paths:
        raise RequestError(
            f"{path} has neither {PRODUCTS} nor {ORDERS}", hint="give the folder that has them, or a file"
        )
    return paths


@dataclass
class _Loading:
    """The import of one file."""

    design: Shop
    path: Path
    report: LoadReport
    steps: Steps
    columns: Mapping[str, str]
    """Column names of the file by the expected names."""
    merchants: dict[str, str] = field(default_factory=dict[str, str])
    """Merchants by product id."""
    users: dict[str, None] = field(default_factory=dict[str, None])

    def run(self) -> None:
        """Load the file by its columns or its name. Raises RequestError for an unknown kind of file."""
        table = Table(self.path, self.tell)
        table.rename({_column(name): field for field, name in self.columns.items()})
        there = set(table.columns)
        if there >= ORDER_COLUMNS:
            self._order_lines(orders_of(table.rows(), self.tell))
        elif there >= PRODUCT_COLUMNS:
            self._product_rows(products_of(table.rows(), self.tell))
        elif self.path.name == ORDERS or "order_id" in table.columns:
            self._orders(table)
        elif self.path.name == PRODUCTS or "product_id" in table.columns:
            self._products(table)
        else:
            raise RequestError(
                f"{self.path.name} has neither product nor order columns",
                place=f"{self.path.name}:1",
                hint="its first line names the columns: product_id, merchant_id, name, price, stock; or order_id, ...",
            )

    def tell(self, line: int, message: str, hint: str | None = None) -> None:
        self.report.fault(ErrorDetail(f"{self.path.name}:{line}", message, hint))

    def _complete(self, table: Table, *needed: Iterable[str]) -> bool:
        lacks = table.lacks(*map(tuple, needed))
        if lacks:
            self.tell(1, f"the columns {', '.join(lacks)} are missing", "name them in the first line")
        return not lacks

    # Products

    def _products(self, table: Table) -> None:
        if not self._complete(table, ["product_id"], ["merchant_id"], ["name"], PRICE, ["stock"]):
            return
        self._product_rows(table.rows())
        if "related" in table.columns:
            # After all products, because a row can name a product of a later row. The first pass reported all errors.
            again = Table(self.path, lambda *_: None)
            again.rename({_column(name): field for field, name in self.columns.items()})
            for row in again.rows():
                with self._telling(row.line):
                    self._related(row)

    def _product_rows(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.steps.at(row.line)
            with self._telling(row.line):
                self._product(row)

    @contextmanager
    def _telling(self, line: int) -> Generator[None]:
        """Convert errors to reports of the line, except failures of the store."""
        try:
            yield
        except StoreError:
            raise
        except _RowError as error:
            self.tell(line, str(error), error.hint)
        except ValidationError as error:
            self.tell(line, "; ".join(_said(element) for element in error.errors(include_url=False)))
        except KeyplanError as error:
            self.report.fault(ErrorDetail(f"{self.path.name}:{line}", error.message, error.hint, error.code))

    def _product(self, row: Row) -> None:
        product = Product(
            product_id=row.values["product_id"],
            merchant_id=row.values["merchant_id"],
            name=row.values["name"],
            price_cents=_cents(row.values),
            stock=_whole(row.values, "stock"),
            description=row.values.get("description", ""),
            category=row.values.get("category") or "other",
            picture=self._picture(row),
        )
        if row.values.get("listed") == "no":
            product = product.model_copy(update={"listed_at": None})
        try:
            self.design.add_product(product)
        except ItemExists:
            self._known_product(product, row)
        self.report.loaded += 1

    def _picture(self, row: Row) -> str | None:
        """The URL of a picture, which pages load only over HTTPS."""
        address = row.values.get("picture", "")
        if address and not address.startswith(("https://", "/")):
            self.tell(row.line, f"the picture isn't imported: {address[:200]}", "give an https address")
            return None
        return address or None

    def _known_product(self, product: Product, row: Row) -> None:
        """Update a product that exists. Its stock stays, because orders have changed it."""
        before = self.design.get(Product, product_id=product.product_id, consistent=True)
        if before is None:
            raise _RowError("the product was deleted during the import", "load the file again")
        if before.merchant_id != product.merchant_id:
            raise _RowError(
                f"product {product.product_id!r} and its orders belong to {before.merchant_id!r}",
                "use another id for this product",
            )
        given: dict[str, Any] = {"name": product.name, "price_cents": product.price_cents}
        given |= {
            name: getattr(product, name) for name in ("description", "category", "picture") if row.values.get(name)
        }
        wanted = before.model_copy(update=given)
        if wanted != before:
            names = ("name", "description", "category", "price_cents", "picture")
            details = {name: getattr(wanted, name) for name in names}
            self.design.edit_product(product.product_id, ProductDetails(**details, listed=before.listed_at is not None))

    def _related(self, row: Row) -> None:
        product_id = row.values["product_id"]
        related = [text for part in row.values["related"].replace("|", ";").split(";") if (text := part.strip())]
        if not related or self._merchant(product_id) is None:
            return  # the error is reported with the product
        unknown = [word for word in related if self._merchant(word) is None]
        known = dict.fromkeys(word for word in related if word not in unknown and word != product_id)
        self.design.batch(Put(Related(product_id=product_id, related_id=word)) for word in known)
        if unknown:
            raise _RowError(f"related to unknown products: {', '.join(unknown)}", "add them, and load again")

    def _merchant(self, product_id: str) -> str | None:
        if product_id not in self.merchants:
            product = self.design.product(product_id) if product_id else None
            if product is None:
                return None
            _remember(self.merchants, product_id, product.merchant_id)
        return self.merchants[product_id]

    # Orders

    def _orders(self, table: Table) -> None:
        columns = ("order_id", "user_id", "created_at", "status", "product_id", "quantity")
        if not self._complete(table, *([column] for column in columns), PRICE):
            return
        self._order_lines(table.rows())

    def _order_lines(self, lines: Iterable[Row]) -> None:
        for _, rows in groupby(lines, key=lambda row: row.values["order_id"]):
            self._order_rows(rows)

    def _order_rows(self, rows: Iterator[Row]) -> None:
        """The rows of one order. With a faulty row, the order isn't loaded."""
        group = list(islice(rows, LINES_MAX + 1))
        more = sum(1 for _ in rows)
        for row in group:
            self.steps.at(row.line)
        head = group[0]
        order_id = head.values["order_id"]
        if len(group) > LINES_MAX:
            self.tell(head.line, f"order {order_id!r} has {len(group) + more} lines; an order holds {LINES_MAX}")
            return
        lines: list[OrderLine] = []
        for number, row in enumerate(group, 1):
            with self._telling(row.line):
                lines.append(self._line(row, number, head))
        if len(lines) < len(group):
            if len(group) > 1:
                self.tell(head.line, f"order {order_id!r} is skipped: one of its lines can't be loaded")
            return
        with self._telling(head.line):
            self._order(head, lines)

    def _line(self, row: Row, number: int, head: Row) -> OrderLine:
        for name in ("user_id", "created_at", "status", "payment_id"):
            if row.values.get(name, "") not in {"", head.values.get(name, "")}:
                raise _RowError(f"{name} is {row.values[name]!r}, but {head.values[name]!r} on line {head.line}")
        if self._merchant(row.values["product_id"]) is None:
            raise _RowError(f"there is no product {row.values['product_id']!r}", "load the products first")
        return OrderLine(
            order_id=row.values["order_id"],
            line=number,
            product_id=row.values["product_id"],
            quantity=_whole(row.values, "quantity"),
            price_cents=_cents(row.values),
        )

    def _order(self, head: Row, lines: list[OrderLine]) -> None:
        values = head.values
        merchants = sorted({str(self._merchant(line.product_id)) for line in lines})
        if len(merchants) > 1:
            raise _RowError(f"its products belong to several merchants: {', '.join(merchants)}", "split the order")
        status = STATUSES.get(values["status"].lower())
        if status is None:
            raise _RowError(f"status is {values['status']!r}", f"use one of {', '.join(STATUSES)}")
        total = sum(line.quantity * line.price_cents for line in lines)
        order = Order(
            order_id=values["order_id"],
            user_id=values["user_id"],
            merchant_id=merchants[0],
            status=status,
            total_cents=total,
            created_at=_moment(values["created_at"]),
            ship_to=_ship_to(values),
        )
        payment = Payment(
            order_id=order.order_id,
            user_id=order.user_id,
            ordered_at=order.created_at,
            amount_cents=total,
            status=_payment_status(status, paid=bool(values.get("payment_id"))),
            external_id=values.get("payment_id") or None,
        )
        self._user(values)
        self._write(order, lines, payment)
        self.report.loaded += 1

    def _user(self, values: Mapping[str, str]) -> None:
        """Register the buyer, if they are unknown."""
        user_id = values["user_id"]
        if user_id in self.users:
            return
        if self.design.get(User, user_id=user_id, consistent=True) is None:
            email = values.get("email", "")
            if not email:
                raise _RowError(f"there is no user {user_id!r}, and no email to register one", "add the column email")
            self.design.register(User(user_id=user_id, email=email, name=values.get("name") or email))
        _remember(self.users, user_id, None)

    def _write(self, order: Order, lines: list[OrderLine], payment: Payment) -> None:
        """Write an order with its parts, unless it is stored already. Stock doesn't change."""
        event = OrderEvent(
            event_id=f"{order.order_id}-placed",
            order_id=order.order_id,
            merchant_id=order.merchant_id,
            kind="placed",
            at=order.created_at,
        )
        try:
            self.design.transact([Create(order), *map(Create, lines), Create(payment), Put(event)])
        except WriteFailed:
            stored = self.design.get(Payment, order_id=order.order_id, payment=1, consistent=True)
            if stored is None:
                raise  # the external payment belongs to another order
            there = {part.line: part for part in self.design.order_parts(order.order_id) if isinstance(part, OrderLine)}
            same = (stored.user_id, stored.ordered_at) == (order.user_id, order.created_at)
            if not same or list(there.values()) != lines:
                raise _RowError(
                    f"another order {order.order_id!r} exists",
                    "put the rows of an order together",
                ) from None


def _remember(known: dict[str, Any], name: str, value: Any) -> None:
    """Cache a value, at most REMEMBERED_MAX."""
    if len(known) >= REMEMBERED_MAX:
        known.clear()
    known[name] = value


def _payment_status(status: OrderStatus, *, paid: bool) -> PaymentStatus:
    if status == "cancelled":
        return "refunded" if paid else "void"
    return "due" if status == "pending" else "paid"


# Values


def _column(name: str) -> str:
    """A column's name, normalized as in ``Table``."""
    return name.strip().lower().replace(" ", "_")


def _whole(values: Mapping[str, str], name: str) -> int:
    """A whole number. Raises _RowError."""
    text = values[name]
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise _RowError(f"{name} is {text!r}, which isn't a whole number")
    return int(text)


def _cents(values: Mapping[str, str]) -> int:
    """A price in minor units, from ``price_cents`` or ``price`` (12.50). Raises _RowError."""
    if values.get("price_cents"):
        return _whole(values, "price_cents")
    text = values.get("price", "")
    whole, point, part = text.removeprefix("-").removeprefix("+").partition(".")
    is_number = (
        f"{whole}{part}".isascii() and f"{whole}{part}".isdecimal() and bool(whole) and bool(part) == bool(point)
    )
    cents = Decimal(text) * 100 if is_number and len(whole) <= 15 and len(part) <= 6 else None
    if cents is None or cents != cents.to_integral_value():
        raise _RowError(
            f"price is {text!r}", "write it as 12.50, without a currency; or in minor units, as price_cents"
        )
    return int(cents)


def _moment(text: str) -> datetime:
    """A time in UTC, which is the default zone. Raises _RowError."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _RowError(f"created_at is {text!r}", "write it as 2026-11-21T09:42:00Z") from None


def _ship_to(values: Mapping[str, str]) -> PostalAddress | None:
    """The postal address in columns named as Shopify names them; None without one. Raises ValidationError."""
    if not values.get("shipping_street"):
        return None
    return PostalAddress(
        name=values["shipping_name"],
        street=values["shipping_street"],
        postcode=values["shipping_zip"].lstrip("'"),
        city=values["shipping_city"],
        country=values["shipping_country"],
    )


def _said(error: Any) -> str:
    name = ".".join(str(step) for step in error["loc"])
    return f"{name}: {error['msg'][:1].lower()}{error['msg'][1:]}; given: {str(error.get('input'))[:60]!r}"
