"""The shop's site: pages of customers and of merchants, and the access rules of the API."""
