"""How far from the exact minimal sufficient profile?"""
