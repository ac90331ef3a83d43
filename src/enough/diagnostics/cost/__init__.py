"""What does it cost, online and offline?"""
