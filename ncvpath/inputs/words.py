"""Arguments that do not exist, and what those who wrote them will have meant: the words
of R's ncvreg and glmnet, of scikit-learn, and misspelt ones of our own."""

from difflib import get_close_matches
from functools import wraps
from inspect import signature

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
# What cv_ncvpath() has beside the arguments of ncvpath().
OF_CROSS_VALIDATION = (
    "nfolds", "folds", "groups", "random_state", "measure", "executor", "keep",
)


def advice(word, own):
    """The argument that was meant, as a question, if there is one nearly of that name.

    If the function has it not, `own` being its arguments, it is one of cv_ncvpath().
    """
    # As R has them, and as those write who may not say lambda.
    plain = word.replace(".", "_").rstrip("_")
    names = sorted({*own, *OF_CROSS_VALIDATION}, key=lambda name: (len(name), name))
    begin = [name for name in names if name.startswith(plain)]
    known = ELSEWHERE.get(plain.lower())
    found = [known] if known else begin or get_close_matches(plain, names, n=1)
    if not found:
        return ""
    where = "" if found[0] in own or found[0] not in names else " of cv_ncvpath()"
    return f" (did you mean {found[0]}{where}?)"


def knows_its_arguments(function):
    """A function that answers an unknown keyword with the one that was meant."""
    own = signature(function).parameters

    @wraps(function)
    def called(*arguments, **keywords):
        for word in keywords:
            if word not in own:
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument "
                    f"{word!r}{advice(word, own)}"
                )
        return function(*arguments, **keywords)

    return called
