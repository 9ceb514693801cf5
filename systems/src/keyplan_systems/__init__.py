"""Five systems built on Keyplan: blog, cms, papers, shop, social. They use only public names of the installed library.

Entry points of this package make them available: ``keyplan.systems.system("cms")``. Modules here are shared: posts and
their front matter, reading of lines, sample articles.
"""
