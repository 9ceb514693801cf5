"""Five systems built on Keyplan: blog, cms, papers, shop, social. Each uses public names of the installed library only.

They are found by the entry points of this package: ``keyplan.systems.system("cms")``. Here stands what several of them
share: reading posts and their front matter, reading lines, texts for samples.
"""
