"""How a room takes part in the Kafka protocol: the policies it exports, and what its handlers see and return."""
