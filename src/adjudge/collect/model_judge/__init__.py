"""A language model as a judge: asked with the project's guidelines, judged like any other."""
