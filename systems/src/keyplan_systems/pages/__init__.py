"""Shared by the sites of the shop, the paper catalogue, the social network and the CMS."""
