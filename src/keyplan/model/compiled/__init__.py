"""What is made of a design: signatures as questions, questions as plans, conditions, and every fault at once."""
