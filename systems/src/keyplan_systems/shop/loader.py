"""Import of products and orders from CSV: a folder with both files, or one file. Shopify's exports are recognized by
their columns; other files need the column names below, or a mapping.

Each row of ``orders.csv`` is a line of an order; the rows of an order are adjacent. A row that can't be loaded is
reported by file and line; an order is loaded as a whole or not at all. Importing again changes nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from keyplan import Create, Put
from keyplan.errors import ErrorDetail, ItemExists, KeyplanError, RequestError, StoreError, WriteFailed
from keyplan.systems import LoadReport, Progress
from keyplan_systems.lines import Steps, count_lines, readable
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.entities import (
    LINES_MAX,
    STATUSES,
    Order,
    OrderLine,
    OrderStatus,
    Payment,
    PaymentStatus,
    PostalAddress,
    Product,
    ProductDetails,
    Related,
    User,
    cents_of,
)
from keyplan_systems.shop.orders import event_of, order_of
from keyplan_systems.shop.searching import rebuild
from keyplan_systems.shop.shopify import ORDER_COLUMNS, PRODUCT_COLUMNS, orders_of, products_of
from keyplan_systems.shop.tables import Row, Table
from keyplan_systems.site.searching import refill_beside

PRODUCTS = "products.csv"
ORDERS = "orders.csv"


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
            f"{path} has neither {PRODUCTS} nor {ORDERS}", hint="pass a folder with these files, or one file"
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

    def run(self) -> None:
        """Load the file by its columns or its name. Raises RequestError for an unknown kind of file."""
        table = Table(self.path, self.tell, self.columns)
        there = set(table.columns)
        price = "price_cents" if "price_cents" in there else "price"
        if there >= ORDER_COLUMNS:
            self._orders(orders_of(table.rows(), self.tell))
        elif there >= PRODUCT_COLUMNS:
            self._products(products_of(table.rows(), self.tell))
        elif self.path.name == ORDERS or "order_id" in there:
            self._orders(table.rows("order_id", "user_id", "created_at", "status", "product_id", "quantity", price))
        elif self.path.name == PRODUCTS or "product_id" in there:
            self._products(table.rows("product_id", "merchant_id", "name", price, "stock"))
        else:
            raise RequestError(
                f"{self.path.name} has neither product nor order columns",
                place=f"{self.path.name}:1",
                hint="add a first line with the column names, which must include product_id or order_id",
            )

    def tell(self, line: int, message: str, hint: str | None = None) -> None:
        self.report.fault(ErrorDetail(f"{self.path.name}:{line}", message, hint))

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

    def _products(self, rows: Iterable[Row]) -> None:
        related: list[tuple[int, str, str]] = []
        for row in rows:
            self.steps.at(row.line)
            with self._telling(row.line):
                self._product(row)
                self.report.loaded += 1
                if text := row.values.get("related"):
                    related.append((row.line, row.values["product_id"], text))
        for line, product_id, text in related:  # after all products, because a row can name a later product
            with self._telling(line):
                self._related(product_id, text)

    def _product(self, row: Row) -> None:
        """Add a product, or update it. The stock of a known product stays, because orders have changed it."""
        values = row.values
        given = {"name": values["name"], "price_cents": _cents(values)}
        given |= {name: text for name in ("description", "category", "picture") if (text := values.get(name))}
        if not str(given.get("picture", "/")).startswith(("https://", "/")):  # pages load pictures only over HTTPS
            self.tell(row.line, f"the picture isn't imported: {values['picture'][:200]}", "use an HTTPS URL")
            del given["picture"]
        fixed = {name: values[name] for name in ("product_id", "merchant_id", "stock")}
        listed = {"listed_at": None} if values.get("listed") == "no" else {}
        product = Product.model_validate({**fixed, **given, **listed})
        try:
            self.design.add_product(product)
        except ItemExists:
            self._update(product, {name: getattr(product, name) for name in given})

    def _related(self, product_id: str, text: str) -> None:
        named = {word.strip() for word in text.replace("|", ";").split(";")} - {"", product_id}
        known = {product.product_id for product in self.design.products(sorted(named))}
        self.design.batch(Put(Related(product_id=product_id, related_id=word)) for word in sorted(known))
        if unknown := sorted(named - known):
            raise _RowError(f"unknown related products: {', '.join(unknown)}", "add the products, then import again")

    def _update(self, product: Product, given: Mapping[str, Any]) -> None:
        before = self.design.get(Product, product_id=product.product_id, consistent=True)
        if before is None or before.merchant_id != product.merchant_id:
            raise _RowError(f"another merchant has a product {product.product_id!r}", "use another id for this product")
        details = before.model_dump(include=set(ProductDetails.model_fields))
        if details != {**details, **given}:
            listed = before.listed_at is not None
            self.design.edit_product(product.product_id, ProductDetails(**{**details, **given}, listed=listed))

    def _orders(self, rows: Iterable[Row]) -> None:
        for order_id, lines in groupby(rows, key=lambda row: row.values["order_id"]):
            group = list(islice(lines, LINES_MAX + 1))
            self.steps.at(group[-1].line)
            with self._telling(group[0].line):
                if len(group) > LINES_MAX:
                    raise _RowError(f"order {order_id!r} has more than {LINES_MAX} lines", "split the order")
                self._order(group)

    def _order(self, rows: list[Row]) -> None:
        """The rows of one order. With a faulty row, the order isn't loaded."""
        values = rows[0].values
        ids = {row.values["product_id"] for row in rows} - {""}
        merchants = {product.product_id: product.merchant_id for product in self.design.products(sorted(ids))}
        lines: list[OrderLine] = []
        for number, row in enumerate(rows, 1):
            with self._telling(row.line):
                for name in ("user_id", "created_at", "status", "payment_id"):
                    if row.values.get(name, "") not in {"", values.get(name, "")}:
                        raise _RowError(f"{name} is {row.values[name]!r}, but {values[name]!r} on line {rows[0].line}")
                if row.values["product_id"] not in merchants:
                    raise _RowError(f"there is no product {row.values['product_id']!r}", "load the products first")
                line = {name: row.values[name] for name in ("order_id", "product_id", "quantity")}
                lines.append(OrderLine.model_validate({**line, "line": number, "price_cents": _cents(row.values)}))
        if len(lines) < len(rows):
            if len(rows) > 1:
                raise _RowError(f"order {values['order_id']!r} is skipped: one of its lines can't be loaded")
            return
        sellers = sorted(set(merchants.values()))
        if len(sellers) > 1:
            raise _RowError(f"the order has products of several merchants: {', '.join(sellers)}", "split the order")
        status = STATUSES.get(values["status"].lower())
        if status is None:
            raise _RowError(f"status is {values['status']!r}, which is unknown", f"use one of {', '.join(STATUSES)}")
        order, _, (payment,) = order_of(
            values["user_id"], sellers[0], lines, _moment(values["created_at"]), _ship_to(values)
        )
        paid = values.get("payment_id") or None
        settled = {"status": _payment_status(status, paid=paid is not None), "external_id": paid}
        self._user(values)
        self._write(order.model_copy(update={"status": status}), lines, payment.model_copy(update=settled))
        self.report.loaded += 1

    def _user(self, values: Mapping[str, str]) -> None:
        """Register the buyer, if they are unknown."""
        user_id, email = values["user_id"], values.get("email", "")
        if self.design.get(User, user_id=user_id, consistent=True) is None:
            if not email:
                raise _RowError(f"there is no user {user_id!r}, and the row has no email", "add an email address")
            self.design.register(User(user_id=user_id, email=email, name=values.get("name") or email))

    def _write(self, order: Order, lines: list[OrderLine], payment: Payment) -> None:
        """Write an order with its parts, unless it is stored already. Stock doesn't change."""
        event = event_of(order, "placed", order.created_at)
        try:
            self.design.transact([Create(order), *map(Create, lines), Create(payment), Put(event)])
        except WriteFailed:
            parts = self.design.order_parts(order.order_id)
            stored = next((part for part in parts if isinstance(part, Payment)), None)
            if stored is None:
                raise  # the external payment belongs to another order
            same = (stored.user_id, stored.ordered_at) == (order.user_id, order.created_at)
            if not same or [part for part in parts if isinstance(part, OrderLine)] != lines:
                raise _RowError(
                    f"order {order.order_id!r} exists with other data", "use a new id, or keep an order's rows together"
                ) from None


def _payment_status(status: OrderStatus, *, paid: bool) -> PaymentStatus:
    if status == "cancelled":
        return "refunded" if paid else "void"
    return "due" if status == "pending" else "paid"


def _cents(values: Mapping[str, str]) -> int | str:
    """A price in minor units, from ``price_cents`` or ``price`` (12.50). Raises _RowError."""
    if values.get("price_cents"):
        return values["price_cents"]
    cents = cents_of(values.get("price", ""))
    if cents is None:
        hint = "write the price as 12.50, without a currency, or add a column price_cents"
        raise _RowError(f"price is {values.get('price', '')!r}, which isn't an amount", hint)
    return cents


def _moment(text: str) -> datetime:
    """A time in UTC, which is the default zone. Raises _RowError."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _RowError(f"created_at is {text!r}, which isn't a time", "write it as 2026-11-21T09:42:00Z") from None


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
