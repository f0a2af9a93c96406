"""The commands: in which files they are, in the order of the help, and what each is for.

So the list of them is shown without importing any; a package is a group of commands.
"""

COMMANDS = {
    "demo": "Make a small crowd, find its consensus, judge the judges, and compare with the truth.",
    "look": "Show what a file is: its kind, how its columns are taken, counts, scale and oddities.",
    "consensus": "Turn judgments into one label for each item, with its probability.",
    "judges": (
        "Show how good each judge is, and whether to keep, train, drop or watch them, and why."
    ),
    "next": "List the items most worth another judgment, and who should give it.",
    "evaluate": "Score labels against gold: accuracy, F1, AUC, log loss, calibration and more.",
    "estimate": (
        "Estimate a number from all judgments and gold on a part of the items, with an interval."
    ),
    "agreement": "Measure agreement: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha.",
    "tune": (
        "Choose the threshold of a filter on gold, and score the vote with it on gold it never saw."
    ),
    "compare": (
        "Compare models on your judgments: log loss, accuracy, calibration, time, and which "
        "to take."
    ),
    "rank": (
        "Rank search systems by noisy judgments, with intervals and the probability that A beats B."
    ),
    "rank_pairs": (
        "Rank items by comparisons of two, with intervals, and say how far judges can be trusted."
    ),
    "may_replace": (
        "Say of each model whether it may stand in for people: the alternative annotator test."
    ),
    "align": "Look model judges over: right, honest, repeatable, and what should not be trusted.",
    "plan": "Say how many judgments, golds and how much money a wanted accuracy takes.",
    "report": (
        "Make a report: labels, judges with a card each, disagreements, model checks, on one page."
    ),
    "plot": "Draw figures: judges against chance, posteriors, confusion, calibration and more.",
    "convert": (
        "Convert judgments, gold or labels from any format that is read to any that is written."
    ),
    "simulate": "Make judgments from a stated crowd, with the truth that real judgments hide.",
    "crowd": "Send made judges to a server that collects judgments, and tell how it went.",
    "models": "List the models, what each is, and its settings with their defaults.",
    "serve": "Serve the pages where judgments are collected, and the API, until it is stopped.",
    "project": (
        "Make, fill, watch and take out collection projects, on the database of 'adjudge serve'."
    ),
    "judge_with_model": (
        "Let a language model judge a project's pages like any judge, or a table of items."
    ),
}

# Commands of earlier versions, and what to use in their place.
MOVED = {
    "encode": "Parquet files, which 'adjudge consensus ... --engine dask' reads at any size",
    "replicate": "./scripts/replicate in a checkout of the project",
}
