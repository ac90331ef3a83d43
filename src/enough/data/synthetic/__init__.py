"""A made-up world: seeded users with latent habits in all six task schemas, and its truth."""

from enough.data.synthetic.truth import Kind, Role, Truth
from enough.data.synthetic.world import World, WorldConfig, make_world

__all__ = ["Kind", "Role", "Truth", "World", "WorldConfig", "make_world"]
