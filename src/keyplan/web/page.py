def page(design): return "<p>soon"
