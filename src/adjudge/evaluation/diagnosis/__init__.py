"""What a consensus says of its judges and items: whom to keep, train or drop, and what to ask next.

``diagnose`` is the whole, ``advice`` the thresholds by which judges are kept or dropped,
``features`` the table of what is counted of each judge, ``voices`` who speaks as one, and
``next_judges`` who should judge an item next. The private modules are the parts of a diagnosis.
"""
