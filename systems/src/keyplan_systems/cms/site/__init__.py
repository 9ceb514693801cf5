"""The CMS's pages: desk, editor with preview, versions, members; and the content API."""
