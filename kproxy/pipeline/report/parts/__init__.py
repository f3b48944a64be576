"""The parts of the page: charts and tables, made of the sections' plain values."""
