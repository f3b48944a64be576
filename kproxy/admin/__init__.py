"""The admin port: HTTP/1.1 on h11 over Trio. `server.serve_admin` serves a `view.View` of the process."""
