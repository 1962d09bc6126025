"""Arguments that do not exist, and what those who wrote them will have meant: the words
of R's ncvreg and glmnet, of scikit-learn, and misspelt ones of our own."""

from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature

KEYWORD_ONLY, VAR_KEYWORD = Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD
POSITIONAL_OR_KEYWORD = Parameter.POSITIONAL_OR_KEYWORD
QUESTIONS = "lam of coef(), predict() and selected()"
LAMBDAS = ("lambda", "lam", "alphas")
ELSEWHERE = dict.fromkeys(LAMBDAS, "lambdas") | {
    "s": QUESTIONS,
    "which": "which of coef() and predict()",
    "rule": "rule of coef() and predict()",
    "type": "type of predict()",
    "lambda_min": "lambda_min_ratio",
    "nlam": "nlambda", "n_alphas": "nlambda", "eps": "tol", "thresh": "tol",
    "maxit": "max_epochs", "max_iter": "max_epochs", "pmax": "dfmax",
    "exclude": "penalty_factor, inf for features that never enter",
    "l1_ratio": "alpha", "fit_intercept": "intercept", "normalize": "standardize",
    "sample_weight": "weights", "n_jobs": "n_threads", "ncores": "n_threads",
    "nfold": "nfolds", "cv": "nfolds", "fold": "folds", "foldid": "folds",
    "seed": "random_state", "type_measure": "measure", "scoring": "measure",
    "cluster": "executor", "returny": "keep", "trace": "progress",
    "verbose": "progress",
}
# What questions to a result call it, as far as they have it.
OF_QUESTIONS = dict.fromkeys(LAMBDAS, ("lam",)) | {
    "lambdas": ("lam",), "s": ("rule", "lam"), "lambda_min": ("rule",),
    "lambda_1se": ("rule",), "type": ("kind",), "index": ("which",), "newx": ("X",),
    "newdata": ("X",), "newoffset": ("offset",), "criterion": ("rule",),
}
# What cv_ncvpath() has beside the arguments of ncvpath().
OF_CROSS_VALIDATION = (
    "nfolds", "folds", "groups", "random_state", "measure", "executor", "keep",
)


def advice(word, own, elsewhere=ELSEWHERE, others=OF_CROSS_VALIDATION):
    """The argument that was meant, as a question, if there is one nearly of that name.

    If the function has it not, `own` being its arguments, it is one of cv_ncvpath(),
    the `others`.
    """
    # As R has them, and as those write who may not say lambda.
    plain = word.replace(".", "_").rstrip("_")
    names = sorted({*own, *others}, key=lambda name: (len(name), name))
    begin = [name for name in names if name.startswith(plain)]
    known = elsewhere.get(plain.lower())
    found = [known] if known else begin or get_close_matches(plain, names, n=1)
    if not found:
        return ""
    where = "" if found[0] in own or found[0] not in names else " of cv_ncvpath()"
    return f" (did you mean {found[0]}{where}?)"


def knows_its_arguments(function):
    """A function that answers an unknown keyword with the one that was meant, and one
    without a name, where it needs some, by saying so."""
    own, name = signature(function).parameters, function.__qualname__
    kinds = [each.kind for each in own.values()]
    ordered = [word for word in own if own[word].kind is POSITIONAL_OR_KEYWORD]
    known = ()  # beside its arguments
    if "self" in own:
        own = {word: own[word] for word in own if word != "self"}
        known = (of_questions(own), ())

    @wraps(function)
    def called(*arguments, **keywords):
        if KEYWORD_ONLY in kinds and len(arguments) > len(ordered):
            raise TypeError(
                f"{name}() takes {len(ordered)} positional arguments but "
                f"{len(arguments)} were given: name the arguments after "
                f"{', '.join(ordered)}"
            )
        for word in keywords:
            if word not in own and VAR_KEYWORD not in kinds:
                refuse(name, word, own, *known)
        return function(*arguments, **keywords)

    return called


def of_questions(own):
    """What the arguments of a question are called elsewhere."""
    found = {
        word: [name for name in names if name in own]
        for word, names in OF_QUESTIONS.items()
    }
    return {word: " or ".join(names) for word, names in found.items() if names}


def refuse(name, word, own, *known):
    """The error for an argument that there is not; `known` as for advice()."""
    raise TypeError(
        f"{name}() got an unexpected keyword argument {word!r}"
        f"{advice(word, own, *known)}"
    )
