"""The judge's side: pages made and answered, items counted, one transaction each."""
