"""The inspector: a page on which people see why records were selected.

`routes` serves the page and answers its questions, `insight` lays a decision open. `assets` is the
page itself: it needs no build step and loads nothing from elsewhere.
"""
