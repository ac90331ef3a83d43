"""What the paper argues with: each diagnostic measures rows and shows them as a section."""
