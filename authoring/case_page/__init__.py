"""The page that shows one case: a single HTML file that runs nothing and loads nothing."""
