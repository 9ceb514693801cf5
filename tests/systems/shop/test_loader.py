"""Valid rows of CSV files are imported completely and once, and errors have line numbers."""

from __future__ import annotations

import csv
import io
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keyplan.errors import RequestError
from keyplan.systems import LoadReport
from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import PostalAddress
from keyplan_systems.shop.loader import load
from tests.cli.support import run

PRODUCTS = """\
product_id,merchant_id,name,price,stock,related
tea,leafhouse,Green Tea,4.50,10,cup; pot
cup,leafhouse,"Cup, blue",9,2,
pot,leafhouse,"Pot ""big"" one",29.99,1,tea
"""
ORDERS = """\
order_id,user_id,email,name,created_at,status,product_id,quantity,price,payment_id
1,ada,ada@example.com,Ada,2026-01-02T03:04:05+01:00,shipped,tea,2,4.50,pi_1
1,ada,,,,,cup,1,9.00,
2,bob,bob@example.com,Bob,2026-01-03,pending,pot,1,29.99,
3,bob,,,2026-01-04 10:00,cancelled,pot,1,29.99,
"""


@pytest.fixture
def empty() -> Iterator[Shop]:
    with Shop.open(":memory:") as opened:
        yield opened


def loaded(shop: Shop, folder: Path, **files: str) -> LoadReport:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return load(shop, folder, lambda done, total: None)


def told(report: LoadReport) -> list[str]:
    return [str(fault) for fault in report.errors]


def test_products_and_orders_are_imported(empty: Shop, tmp_path: Path) -> None:
    report = loaded(empty, tmp_path, products=PRODUCTS, orders=ORDERS)
    assert (report.loaded, told(report)) == (6, [])
    pot = empty.product("pot")
    assert pot is not None
    assert (pot.name, pot.price_cents, pot.stock) == ('Pot "big" one', 2999, 1)
    assert [product.product_id for product in empty.related_products("tea")] == ["cup", "pot"]
    assert [product.product_id for product in empty.products_leading_to("tea")] == ["pot"]
    details = empty.order_details("1")
    assert details is not None
    assert details.order.created_at == datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert (details.order.status, details.order.merchant_id, details.order.total_cents) == (
        "shipped",
        "leafhouse",
        1800,
    )
    assert [(line.product_id, line.quantity, line.price_cents) for line in details.lines] == [
        ("tea", 2, 450),
        ("cup", 1, 900),
    ]
    assert [(payment.status, payment.amount_cents) for payment in details.payments] == [("paid", 1800)]
    assert empty.order_by_payment("pi_1") == details.order
    assert [order.order_id for order in empty.pending_orders("leafhouse")] == ["2"]
    assert [order.order_id for order in empty.orders_of_user("bob")] == ["3", "2"]
    user = empty.user_by_email("ADA@example.com")
    assert user is not None
    assert user.name == "Ada"
    events = empty.events_of_day(datetime(2026, 1, 3, tzinfo=UTC).date())
    assert [(event.order_id, event.kind) for event in events] == [("2", "placed")]


def test_imported_orders_can_be_paid_and_cancelled(empty: Shop, tmp_path: Path) -> None:
    loaded(empty, tmp_path, products=PRODUCTS, orders=ORDERS)
    empty.pay("2", "pi_2", 2999)
    empty.cancel("2")
    pot = empty.product("pot")
    assert pot is not None
    assert pot.stock == 2
    assert empty.order_by_payment("pi_2") is not None


def test_importing_files_again_keeps_stock_and_orders(empty: Shop, tmp_path: Path) -> None:
    loaded(empty, tmp_path, products=PRODUCTS, orders=ORDERS)
    empty.place_order("ada", "t", {"tea": 3})
    empty.pay("2", "pi_2", 2999)
    report = loaded(empty, tmp_path, products=PRODUCTS.replace("4.50", "5.00"))
    assert (report.loaded, told(report)) == (6, [])
    tea = empty.product("tea")
    assert tea is not None
    assert (tea.stock, tea.price_cents) == (7, 500)  # the price is the file's, the stock the shop's
    details = empty.order_details("2")
    assert details is not None
    assert details.order.status == "paid"
    assert len(details.lines) == 1


def test_errors_in_product_files_have_line_numbers(empty: Shop, tmp_path: Path) -> None:
    text = (
        "product_id,merchant_id,name,price,stock,related\n"
        "a,m,A,4.505,1,\n"
        "b,m,B,1,-1,\n"
        'c,m,"closed" early,1,1,\n'
        "d,m,D,1,1,nothing\n"
        "e,m\n"
        ",m,E,1,1,\n"
        "f,m,F,1e5,1,\n"
        "g,m,G,1,many,\n"
        'h,m,"two\nlines",1,1,d\n'
    )
    (tmp_path / "products.csv").write_bytes(text.encode() + b"i,m,\xff,1,1,\nj,m,J,0,0,\n")
    report = loaded(empty, tmp_path)
    assert report.loaded == 3
    assert [fault.place for fault in report.errors] == [
        *(f"products.csv:{line}" for line in (2, 3, 4, 6, 7, 8, 9, 12)),
        "products.csv:5",
    ]
    messages = [fault.message for fault in report.errors]
    assert messages[0] == "price is '4.505', which isn't an amount"
    assert messages[1].startswith("stock: input should be greater than or equal to 0")
    assert messages[2] == "line 4 can't be read: ',' expected after '\"'"
    assert messages[3] == "the row has 2 columns, expected 6"
    assert [product.product_id for product in empty.products_leading_to("d")] == ["h"]
    assert messages[-1] == "unknown related products: nothing"
    products = [product for name in "abcdefghij" if (product := empty.product(name))]
    assert [product.name for product in products] == ["D", "two\nlines", "J"]


def test_errors_in_order_files_have_line_numbers(empty: Shop, tmp_path: Path) -> None:
    text = (
        "Order ID;User ID;Email;Created At;Status;Product ID;Quantity;Price;Payment ID\n"
        "1;ada;ada@example.com;2026-01-02;paid;tea;2;4.50;pi_1\n"
        "2;ada;;2026-01-02;pending;tea;-1;4.50;\n"
        "3;ada;;2026-01-02;lost;tea;1;4.50;\n"
        "4;ada;;2026-01-02;pending;lamp;1;9;\n"
        "4;ada;;2026-01-02;pending;tea;1;4.50;\n"
        "5;ada;;2026-01-02;paid;tea;1;4.50;pi_1\n"
        "6;eve;;2026-01-02;pending;tea;1;4.50;\n"
        "7;ada;;2026-01-02;pending;tea;1;4.50;\n"
        "7;bob;;2026-01-02;pending;tea;1;4.50;\n"
        "1;ada;;2026-01-02;paid;tea;7;4.50;\n"
        "8;ada;;tomorrow;pending;tea;1;4.50;\n"
        "9;eve;ADA@example.com;2026-01-02;pending;tea;1;4.50;\n"
        "10;ada;;2026-01-02;pending;nothing;1;4.50;\n"
        "11;ada;;2026-01-02;pending;tea;1;4.50;\n"
    )
    products = PRODUCTS + "lamp,lumen,Lamp,9,1,\n"
    report = loaded(empty, tmp_path, products=products, orders=text)
    assert report.loaded == 4 + 2
    assert [(fault.place, fault.message.split(": ")[0]) for fault in report.errors] == [
        ("orders.csv:3", "quantity"),
        ("orders.csv:4", "status is 'lost', which is unknown"),
        ("orders.csv:5", "the order has products of several merchants"),
        ("orders.csv:7", "external_id 'pi_1' belongs to another Payment"),
        ("orders.csv:8", "there is no user 'eve', and the row has no email"),
        ("orders.csv:10", "user_id is 'bob', but 'ada' on line 9"),
        ("orders.csv:9", "order '7' is skipped"),
        ("orders.csv:11", "order '1' exists with other data"),
        ("orders.csv:12", "created_at is 'tomorrow', which isn't a time"),
        ("orders.csv:13", "email 'ada@example.com' belongs to another User"),
        ("orders.csv:14", "there is no product 'nothing'"),
    ]
    assert [order.order_id for order in empty.orders_of_user("ada")] == ["11", "1"]
    assert not empty.order_parts("7")


def test_imported_orders_with_too_many_lines_are_reported(empty: Shop, tmp_path: Path) -> None:
    loaded(empty, tmp_path, products=PRODUCTS)
    head = "order_id,user_id,email,created_at,status,product_id,quantity,price_cents\n"
    for count in (40, 41):
        rows = [f"{count},ada,ada@example.com,2026-01-02,pending,tea,1,450\n"] * count
        (tmp_path / "orders.csv").write_text(head + "".join(rows), encoding="utf-8")
        report = load(empty, tmp_path / "orders.csv", lambda done, total: None)
        assert (report.loaded, told(report)) == (
            (1, []) if count == 40 else (0, ["orders.csv:2: order '41' has more than 40 lines (split the order)"])
        )
    assert empty.cancel("40").status == "cancelled"  # 40 lines of one product change its stock once


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "the columns product_id, merchant_id, name, price, stock are missing"),
        ("product_id,name,price\n", "the columns merchant_id, stock are missing"),
        ("product_id,product_id,merchant_id,name,price,stock\n", "several columns are named product_id"),
        ("\x00\x01\n", "the columns product_id, merchant_id, name, price, stock are missing"),
    ],
)
def test_missing_csv_columns_are_reported(empty: Shop, tmp_path: Path, text: str, wrong: str) -> None:
    report = loaded(empty, tmp_path, products=text)
    assert report.loaded == 0
    assert report.errors[0].message == wrong
    assert report.errors[0].place == "products.csv:1"


def test_files_with_a_byte_order_mark_or_tabs_are_accepted(empty: Shop, tmp_path: Path) -> None:
    text = "\ufeffproduct_id\tmerchant_id\tname\tprice_cents\tstock\r\n\r\ntea\tm\tTea, green\t450\t1\r\n"
    assert loaded(empty, tmp_path, products=text).loaded == 1
    tea = empty.product("tea")
    assert tea is not None
    assert tea.name == "Tea, green"


def test_a_csv_line_over_the_size_limit_is_reported(empty: Shop, tmp_path: Path) -> None:
    long = "x" * 300_000
    report = loaded(empty, tmp_path, products=PRODUCTS + f"long,m,{long},1,1,\nlast,m,Last,1,1,\n")
    assert told(report) == ["products.csv:5: the line is longer than 100,000 bytes and is skipped"]
    assert empty.product("last") is not None


def test_an_unclosed_quote_is_reported_with_the_lines_that_follow_it(empty: Shop, tmp_path: Path) -> None:
    text = 'product_id,merchant_id,name,price,stock\na,m,A,1,1\nb,m,"B,1,1\nc,m,C,1,1\n'
    report = loaded(empty, tmp_path, products=text)
    assert report.loaded == 1
    assert [fault.message for fault in report.errors] == ["lines 3 to 4 can't be read: unexpected end of data"]


def test_importing_missing_files_raises_an_error(empty: Shop, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"has neither products\.csv nor orders\.csv"):
        load(empty, tmp_path, lambda done, total: None)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(RequestError, match="has neither product nor order columns"):
        load(empty, tmp_path / "other.csv", lambda done, total: None)


def test_importing_a_large_file_takes_limited_memory_and_reports_progress(empty: Shop, tmp_path: Path) -> None:
    """Most rows of the 5 MB file are invalid. The import takes less than 2.5 MB of memory."""
    rows = 20_000
    with (tmp_path / "products.csv").open("w", encoding="utf-8") as file:
        file.write("product_id,merchant_id,name,price,stock\n")
        for number in range(rows):
            file.write(f"p{number},m,{'n' * 240},{'x' if number % 1000 else 1},1\n")
    steps: list[tuple[int, int | None]] = []
    tracemalloc.start()
    try:
        report = load(empty, tmp_path, lambda done, total: steps.append((done, total)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_500_000
    assert report.loaded == rows // 1000
    assert len(report.errors) + report.more_faults == rows - rows // 1000
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == ((0, rows + 1), (rows + 1, rows + 1))
    assert len(steps) > 150


def test_the_import_command_reports_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "products.csv").write_text(PRODUCTS + "bad\n", encoding="utf-8")
    result = run("import", "shop", "products.csv")
    assert result.exit_code == 3
    assert "products.csv:5: the row has 1 columns, expected 6" in result.stderr
    assert "Imported 3 into shop.db; 1 error, listed above." in result.stdout
    assert run("import", "shop", "nowhere").exit_code == 2


PRODUCT_HEAD = """\
Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option1 Linked To,\
Option2 Name,Option2 Value,Option2 Linked To,Option3 Name,Option3 Value,Option3 Linked To,Variant SKU,Variant Grams,\
Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Fulfillment Service,Variant Price,\
Variant Compare At Price,Variant Requires Shipping,Variant Taxable,Variant Barcode,Image Src,Image Position,\
Image Alt Text,Gift Card,SEO Title,SEO Description,Variant Image,Variant Weight Unit,Cost per item,Status
"""
ORDER_HEAD = """\
Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Currency,Subtotal,Shipping,Taxes,Total,\
Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Lineitem requires shipping,Billing Name,\
Billing Street,Shipping Name,Shipping Street,Shipping City,Shipping Zip,Shipping Country,Notes,Cancelled at,\
Payment Method,Payment Reference,Refunded Amount,Vendor,Id,Tags,Risk Level,Source
"""


def exported(head: str, *rows: dict[str, str]) -> str:
    """Return a Shopify export with all columns, most of which are empty."""
    text = io.StringIO(head)
    text.seek(0, io.SEEK_END)
    writer = csv.DictWriter(text, head.strip().split(","), restval="", lineterminator="\n")
    writer.writerows(rows)
    return text.getvalue()


MUG = {"Handle": "mug", "Variant Grams": "400.0", "Variant Taxable": "true"}
SHOPIFY_PRODUCTS = exported(
    PRODUCT_HEAD,
    MUG
    | {"Title": "Mug", "Body (HTML)": "<p>Holds <b>tea</b> &amp; more.</p>\n<p>Glazed.</p>", "Vendor": "Clay House"}
    | {"Type": "Kitchen", "Tags": "clay, tea", "Published": "true", "Option1 Value": "Blue", "Option2 Value": "Large"}
    | {"Variant Inventory Qty": "3", "Variant Price": "12.50", "Image Src": "https://cdn.shopify.com/mug.jpg?v=1"}
    | {"Image Position": "1", "Gift Card": "false", "Status": "active"},
    MUG
    | {"Option1 Value": "Red", "Option2 Value": "Small", "Variant SKU": "MUG-RS", "Variant Inventory Qty": "-2"}
    | {"Variant Price": "11.00", "Variant Image": "https://cdn.shopify.com/red.jpg"},
    {"Handle": "mug", "Image Src": "https://cdn.shopify.com/back.jpg", "Image Position": "2"},
    {"Handle": "tray", "Title": "Tray", "Vendor": "Clay House", "Option1 Value": "Default Title", "Status": "draft"}
    | {"Variant Inventory Qty": "5", "Variant Price": "20", "Image Src": "http://old.example/tray.jpg"},
)
BLUE = {"Name": "#1001", "Email": "ada@example.com", "Created at": "2026-01-02 03:04:05 +0100"}
SHOPIFY_ORDERS = exported(
    ORDER_HEAD,
    BLUE
    | {"Financial Status": "paid", "Fulfillment Status": "fulfilled", "Shipping": "4.90", "Lineitem quantity": "2"}
    | {"Lineitem name": "Mug - Blue / Large", "Lineitem price": "12.50", "Billing Name": "Ada", "Id": "50"}
    | {"Shipping Name": "Ada", "Shipping Street": "Kouter 3", "Shipping City": "Gent", "Shipping Zip": "'9000"}
    | {"Shipping Country": "BE", "Payment Reference": "pi_1", "Source": "web"},
    BLUE
    | {"Lineitem quantity": "1", "Lineitem name": "Mug - Red / Small", "Lineitem price": "11.00"}
    | {"Lineitem sku": "MUG-RS"},
    {"Name": "#1002", "Email": "bob@example.com", "Financial Status": "pending", "Billing Name": "Bob"}
    | {"Created at": "2026-01-03 10:00:00 -0500", "Lineitem quantity": "1", "Lineitem name": "Tray"}
    | {"Lineitem price": "20.00"},
    {
        "Name": "#1003",
        "Email": "bob@example.com",
        "Financial Status": "paid",
        "Cancelled at": "2026-01-04 11:00:00 +0100",
    }
    | {"Created at": "2026-01-04 10:00:00 +0100", "Lineitem quantity": "1", "Lineitem name": "Tray"}
    | {"Lineitem price": "20.00", "Payment Reference": "pi_3"},
)


def test_unsupported_columns_of_shopify_are_reported(empty: Shop, tmp_path: Path) -> None:
    report = loaded(empty, tmp_path, products=SHOPIFY_PRODUCTS, orders=SHOPIFY_ORDERS)
    assert report.loaded == 6
    assert [fault.message for fault in report.errors] == [
        "the negative stock -2 is imported as 0",
        "an additional picture isn't imported: https://cdn.shopify.com/back.jpg",
        "the picture isn't imported: http://old.example/tray.jpg",
        "columns that aren't imported (number of rows): tags (1), variant_grams (2), variant_taxable (2)",
        "columns that aren't imported (number of rows): shipping (1), source (1)",
    ]
    blue, red, tray = (empty.product(name) for name in ("mug-blue-large", "MUG-RS", "tray"))
    assert blue is not None
    assert red is not None
    assert tray is not None
    assert (blue.name, blue.price_cents, blue.stock, blue.merchant_id, blue.category) == (
        *("Mug - Blue / Large", 1250, 3, "clay-house", "kitchen"),
    )
    assert (blue.description, blue.picture) == ("Holds tea & more. Glazed.", "https://cdn.shopify.com/mug.jpg?v=1")
    assert (red.name, red.stock, red.picture) == ("Mug - Red / Small", 0, "https://cdn.shopify.com/red.jpg")
    assert (tray.name, tray.picture, tray.listed_at) == ("Tray", None, None)
    details = empty.order_details("1001")
    assert details is not None
    assert (details.order.status, details.order.total_cents) == ("shipped", 3600)
    assert details.order.created_at == datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert details.order.ship_to == PostalAddress(
        name="Ada", street="Kouter 3", postcode="9000", city="Gent", country="BE"
    )
    assert [line.product_id for line in details.lines] == ["mug-blue-large", "MUG-RS"]
    assert [order.order_id for order in empty.pending_orders("clay-house")] == ["1002"]
    cancelled = empty.order_details("1003")
    assert cancelled is not None
    assert (cancelled.order.status, cancelled.payments[0].status) == ("cancelled", "refunded")


def test_the_import_command_maps_columns_to_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "goods.csv").write_text("SKU;Seller;Product Title;Price;On hand\ntea;leafhouse;Tea;4.50;7\n")
    names = {"product_id": "SKU", "merchant_id": "Seller", "name": "Product Title", "stock": "On hand"}
    mapped = [word for name, column in names.items() for word in ("--map", f"{name}={column}")]
    result = run("import", "shop", "goods.csv", "--db", "s.db", *mapped)
    assert result.exit_code == 0, result.output
    with Shop.open("s.db") as shop:
        tea = shop.product("tea")
    assert tea is not None
    assert (tea.name, tea.stock) == ("Tea", 7)
    for wrong in (("shop", "goods.csv", "--map", "name"), ("blog", ".", "--map", "a=b")):
        assert run("import", wrong[0], wrong[1], "--db", "t.db", *wrong[2:]).exit_code == 2
