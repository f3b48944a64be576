"""One client connection and one broker connection, relayed: frames in order, rewritten only where they must be.

`in_flight`, `routes`, `requests`, `responses` and `apis/` are pure: bytes and the time come in, bytes go out through an
`Outlet`. `endpoint`, `connection`, `pump` and `acceptor` are the shell that moves bytes between sockets and the flows.
"""
