"""From what a client wrote to what the engine is given to say."""
