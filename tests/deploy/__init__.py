"""The image and the chart, with real container tools and a real API server."""
