"""Node <-> advertised address: which port stands for which node, who listens there, and where the node really is."""
