"""The catalogue's site: published papers for everyone, drafts for their authors."""
