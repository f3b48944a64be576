"""Charts as SVG that is as wide as its place. Shapes are in SVG; words are beside them in HTML, and keep their size.

All modules are pure: values come in, text goes out.
"""
