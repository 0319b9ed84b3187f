"""What models are made of: terms, types, dimensions and data types, and walks over them."""
