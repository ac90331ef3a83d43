"""Sections as one page that needs no network: charts in SVG, a table under each."""
