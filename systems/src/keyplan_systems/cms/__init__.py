"""A headless CMS: articles, versions, tags. README.md describes how it follows its document."""

from keyplan_systems.cms.design import Article, ArticleVersion, ArticleWithVersion, Cms, TagArticle

__all__ = ["Article", "ArticleVersion", "ArticleWithVersion", "Cms", "TagArticle"]
