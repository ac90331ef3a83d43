"""What the documentation site is built with beside its pages: hooks for MkDocs."""
