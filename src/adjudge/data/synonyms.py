"""What others call the columns of judgments, and of items to be judged."""

from __future__ import annotations

Synonyms = dict[str, tuple[str, ...]]


def split_names(words: dict[str, str]) -> Synonyms:
    """The names of each role, which are separated by blanks."""
    return {role: tuple(names.split()) for role, names in words.items()}


# The columns that a table may have, each with its names: letters only, without a final "id".
_JUDGMENTS = {
    "item": (
        "item orig original task question unit example pair instance sample object record hit "
        "tweetid sentenceid segmentid textid imageid commentid postid reviewid messageid rowid"
    ),
    "topic": (
        "topic query q searchquery searchterm searchterms searchphrase userquery querytext keyword"
    ),
    "document": "document doc docno corpus passage p productid",
    "judge": (
        "judge worker annotator coder user performer assessor rater labeler labeller evaluator "
        "grader reviewer turker participant username person expertid labeledby labelledby "
        "annotatedby ratedby judgedby gradedby reviewedby judgemodel judgemodelname judgename "
        "evalmodel evalmodelname evaluationmodel gradermodel llm model"
    ),
    # One source of several judges: a model that was asked several times, by several prompts.
    "family": "family judgefamily model",
    # Each prompt and version of a model is a judge of its own; the model is their family.
    "prompt": "prompt promptname prompttemplate template",
    "version": "version modelversion snapshot",
    "kind": "kind judgekind judgetype annotatortype workertype",
    "label": (
        "label rating judgment judgement grade relevance relevancy score answer response value "
        "vote choice verdict decision annotation category class stars rel"
    ),
    "gold": (
        "gold truth truelabel goldlabel expert groundtruth gt goldstandard correctlabel "
        "correctanswer trueclass truevalue labeltrue labelgold goldrating goldgrade goldanswer "
        "expertlabel expertrating referencelabel adjudicated adjudicatedlabel"
    ),
    "reason": "reason why",
    "honeypot": "honeypot trap",
    # How gold was chosen: the chance an item had to be drawn, in which round and part of it.
    "sampling": "samplingprobability inclusionprobability",
    "round": "samplinground",
    "stratum": "samplingstratum",
    "time": "time timestamp createdat submittedat datetime submittime date",
    "seconds": "seconds duration leadtime worktimeinseconds",
}
SYNONYMS = split_names(_JUDGMENTS)

# Roles for which a person may name a column, besides those that every table has.
NAMED = ("item", "topic", "document", "judge", "label", "gold", "time", "seconds")

# With one of these words, a name that ends in a word for the label is not the label.
_OTHERS = (
    "gold golden true truth correct expert confidence trust agreement "
    "time count number mean average avg median variance std id"
)
NOT_A_LABEL = tuple(_OTHERS.split())

# Words in the name of a column that is about the item, the judge or how a judgment came about, and
# is no question to a judge.
_ABOUT = """
certainty sure probability prob weight logprob token tokens temperature seed sample prompt version
date day month year hour week created updated submitted started finished start end seconds duration
latency elapsed cost price pay paid payment reward bonus fee usd rank position order index idx nr
side swapped attempt try run system engine split fold set subset batch page part session device
browser platform os ip country region city state status language lang locale gender sex age
education source channel tainted honeypot trap test comment comments note notes remark remarks
reason why feedback explanation rationale text title url link snippet body name description image
file path length size words hash code approved accepted rejected reviewed missed skipped flagged
hidden match matches agree agrees majority consensus expected condition group cohort arm type kind
"""
NO_QUESTION = frozenset(_ABOUT.split())

# The columns of a table of items to be judged, with what a judge is shown. A query has an id and
# words here, so that "query" is not the topic as it is among judgments.
_ITEMS = {
    "name": "item unit task pair example",
    "topic": "topic queryid qid",
    "query": "query querytext search searchterm q prompt question",
    "need": "need informationneed narrative intent",
    "category": "category",
    "document": "document docid doc docno corpus product result",
    "title": "title producttitle documenttitle headline",
    "text": "text snippet body description productdescription contents abstract",
    "url": "url link documenturl",
    "image": "image imageurl picture",
    "gold": "gold accepted goldlabel truth",
    "reason": "reason goldreason why",
    "role": "role goldrole",
    # Two results next to each other.
    "left": "left modela itema systema optiona",
    "right": "right modelb itemb systemb optionb",
    "left_title": "lefttitle titlea",
    "right_title": "righttitle titleb",
    "left_text": "lefttext leftsnippet leftanswer texta answera responsea",
    "right_text": "righttext rightsnippet rightanswer textb answerb responseb",
    "left_url": "lefturl urla",
    "right_url": "righturl urlb",
    "left_image": "leftimage imagea",
    "right_image": "rightimage imageb",
}
ITEM_SYNONYMS = split_names(_ITEMS)

# The columns of comparisons.
_COMPARISONS = {
    "left": "left modela itema answera responsea systema optiona a",
    "right": "right modelb itemb answerb responseb systemb optionb b",
    "outcome": "label winner outcome preference result choice vote verdict",
    "won": "winner won chosen preferred",
    "lost": "loser lost rejected",
    "topic": "topic query question prompt q",
    "first": "first shownfirst shown",
    "family": "family judgefamily",
}
PAIR_SYNONYMS = split_names(_COMPARISONS) | {
    "judge": tuple(name for name in SYNONYMS["judge"] if name != "model"),
    "kind": SYNONYMS["kind"],
}
