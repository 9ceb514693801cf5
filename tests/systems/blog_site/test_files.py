"""Images are uploaded and served, imported addresses are redirected, and personal data is exported."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from httpx import Response
from PIL import Image

from keyplan.errors import Refused, RequestError
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site import pictures
from keyplan_systems.site.files import FolderFiles, S3Files, name_of
from keyplan_systems.site.pictures import picture_from
from tests.systems.blog_site.support import PASSWORD, Visit, text_of


def image(kind: str, size: tuple[int, int] = (40, 30), mode: str = "RGB") -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size, 7).save(buffer, kind)
    return buffer.getvalue()


def sent(visit: Visit, data: bytes, **headers: str) -> Response:
    token = {"x-csrf-token": visit.token("/write")}
    answer: Response = visit.client.post("/write/pictures", content=data, headers={**token, **headers})
    return answer


@pytest.mark.parametrize(("kind", "ending"), [("JPEG", "jpg"), ("PNG", "png"), ("GIF", "png"), ("WEBP", "png")])
def test_an_uploaded_image_is_reencoded_and_served(author: Visit, anybody: Visit, kind: str, ending: str) -> None:
    data = image(kind) + b"<script>alert(1)</script>"
    result = sent(author, data).json()
    assert result["url"].endswith(f".{ending}")
    assert (result["width"], result["height"]) == (40, 30)
    shown = anybody.get(result["url"])
    assert b"script" not in shown.content
    assert "immutable" in shown.headers["cache-control"]
    assert "sandbox" in shown.headers["content-security-policy"]
    with Image.open(io.BytesIO(shown.content)) as file:
        assert file.size == (40, 30)


def test_uploading_a_file_that_is_not_an_image_is_rejected(author: Visit, reader: Visit, blog: Blog) -> None:
    for data in (b"", b"<svg/>", image("PNG")[:50], image("BMP"), b"GIF89a" + b"\xff" * 40):
        assert sent(author, data).status_code == 422
    assert sent(author, image("PNG"), **{"x-csrf-token": "x"}).status_code == 403
    assert sent(author, image("PNG"), origin="https://evil.example").status_code == 403
    assert author.client.post("/write/pictures", content=b"x" * (pictures.BYTES_MAX + 1)).status_code == 413
    user = blog.user_by_username("ada")
    assert user is not None
    assert blog.uploads_of(user.user_id) == []


def test_uploading_an_image_with_too_many_pixels_is_rejected() -> None:
    with pytest.raises(Refused) as refused:
        picture_from(image("PNG", (5_001, 5_000), "1"), "ada")
    assert "more than 25,000,000 pixels" in refused.value.errors[0].message


def test_images_are_decoded_in_a_separate_process() -> None:
    """Decoding nine images of 25 megapixels took 1.9 GB in the site's process. In the decoder's process, each image
    takes 100 MB.
    """
    data = image("PNG", (5_000, 5_000))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts at the current size
    before = peak_bytes()
    picture_from(data, "ada")
    assert peak_bytes() - before < 30_000_000


def peak_bytes() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def test_a_large_uploaded_image_is_scaled_down() -> None:
    picture = picture_from(image("JPEG", (4_800, 100)), "ada")
    assert (picture.width, picture.height) == (2_400, 50)


@pytest.mark.parametrize("name", ["x.png", "../secret", f"{'0' * 32}.png", f"{'0' * 32}.exe", "%00"])
def test_urls_of_files_that_were_not_uploaded_return_status_404(anybody: Visit, name: str) -> None:
    assert anybody.get(f"/files/{name}").status_code == 404


def test_uploaded_files_are_stored_in_a_folder(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path / "files")
    name = name_of(b"x", "pdf")
    assert files.get(name) is None
    files.put(name, b"x")
    files.put(name, b"x")
    assert files.get(name) == b"x"
    files.delete(name)
    files.delete(name)
    assert files.get(name) is None
    with pytest.raises(RequestError):
        files.put("../x.pdf", b"x")


class Bucket:
    """An S3 client that has only the methods that the site calls."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, **_more: str) -> None:
        assert Bucket == "b"
        self.kept[Key] = Body

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, io.BytesIO]:
        if Key not in self.kept:
            error = Exception(Bucket)
            error.response = {"Error": {"Code": "NoSuchKey"}}  # type: ignore[attr-defined]
            raise error
        return {"Body": io.BytesIO(self.kept[Key])}

    def delete_object(self, *, Bucket: str, Key: str) -> None:
        assert Bucket == "b"
        self.kept.pop(Key, None)


def test_uploaded_files_are_stored_in_an_s3_bucket() -> None:
    bucket = Bucket()
    files = S3Files(bucket, "b", "blog/")
    name = name_of(b"x", "png")
    assert files.get(name) is None
    files.put(name, b"x")
    assert bucket.kept == {f"blog/{name}": b"x"}
    assert files.get(name) == b"x"
    files.delete(name)
    assert files.get(name) is None


def test_imported_addresses_redirect_to_posts(anybody: Visit, blog: Blog, post: Post, draft: Post) -> None:
    blog.lead("/2015/01/09/keys", post.post_id)
    blog.lead("/half", draft.post_id)
    for path in ("/2015/01/09/keys.html", "/2015/01/09/keys/", "/2015/01/09/Keys/index.html?x=1"):
        answer = anybody.get(path)
        assert (answer.status_code, answer.headers["location"]) == (301, "/posts/keys-and-doors")
    assert anybody.get("/half").status_code == 404


def test_deleting_a_post_requires_entering_its_title(author: Visit, blog: Blog, post: Post) -> None:
    page = f"/write/{post.post_id}/delete"
    assert author.send(page, title="Something").status_code == 422
    assert author.send(page, title="Keys and doors").headers["location"] == "/desk?done=deleted"
    assert blog.post(post.post_id) is None
    assert author.get("/posts/keys-and-doors").status_code == 404


def test_an_account_can_be_exported_and_deleted(site: Site, author: Visit, blog: Blog, ada: User, post: Post) -> None:
    taken = author.get("/account/export")
    assert taken.headers["content-disposition"] == 'attachment; filename="ada.json"'
    assert [value["title"] for value in taken.json()["posts"]] == ["Keys and doors"]
    assert author.send("/account/delete", username="ada", password="wrong").status_code == 422
    assert author.send("/account/delete", username="eda", password=PASSWORD).status_code == 422
    assert "Your account is deleted" in text_of(author.send("/account/delete", username="ada", password=PASSWORD))
    assert blog.user(ada.user_id) is None
    assert blog.post(post.post_id) is None
    assert author.get("/account").status_code == 303
