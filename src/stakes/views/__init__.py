"""What people look at: pure functions from figures and tallies to text, pictures and pages."""
