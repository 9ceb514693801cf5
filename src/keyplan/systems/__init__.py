"""The five systems built on Keyplan: blog, cms, social, shop, papers. Each uses keyplan's public names only."""
