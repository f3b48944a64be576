"""What the tests of this group start: tools, containers, the chart, an API server."""
