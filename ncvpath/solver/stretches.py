"""A walk by stretches: several lambdas on a few candidates, then a look at everyone.

The candidates of a stretch are the features that come first in line, and the path is
walked on them as on a small problem (walk.py). Then everyone else is checked at each of
these lambdas: one pass over X learns the few of their residuals that are new, most
features are certified then, and the rest is looked at. Where somebody objects, the walk
goes on from the lambda before, with those who did among the candidates.

All this needs one thread and little of Python's time: it is the way of folds, several
of which are under way at once.
"""

from dataclasses import replace

import numpy as np

from ..matrices.dense import DenseMatrix, SomeColumns, as_stored
from ..penalties import BY_KIND
from . import certificates
from .certificates import NOBODY, Certificates, LookBack
from .fits import Anchor, Fit
from .problem import State
from .solver import fitted, survey
from .walk import is_usual, take_steps
from .working_set import largest

# Lambdas in a stretch, at most. After an objection there are two, after a call as many
# as were kept, but two at least; then one more each.
LONGEST, AGAIN = 8, 2
# Candidates are at most this share of all features, hold at most so many numbers, and
# are at most so many, with more for each who is one in any case: each lambda looks at
# all of them.
SHARE, MOST, AMPLE, MORE = 0.06, 1 << 22, 500, 4
# Room for others that there must be for each feature that is a candidate in any case,
# before anybody has objected and after that; and at least. With less the walk goes on
# as any other.
SPARE, FEWEST = (0.5, 1.5), 20


def suits(matrix, settings):
    """Whether to walk like this: where X is dense, of float64 in memory, not small, and
    nothing unusual is asked for. A tall X is not looked at any more in a walk."""
    dense = isinstance(matrix, DenseMatrix) and matrix.X.dtype == np.float64
    large = dense and matrix.size >= certificates.SMALL and not matrix.is_tall
    return large and is_usual(settings)


def take_stretches(problem, state, lambdas, limits):
    """One finished step after another, as walk.take_steps has them.

    Once there is something difficult, or too many features are in use, the rest of the
    path is left to that; and so is a coarse path.
    """
    if is_coarse(problem, lambdas):
        yield from take_steps(problem, state, lambdas, limits)
        return
    done, length, spare, objecting = 0, LONGEST, SPARE[0], NOBODY
    while done < lambdas.size:
        few = lambdas[done : done + length]
        few = few[few > 0]
        if few.size == 0 or few[0] >= problem.lambda_max or state.lam == np.inf:
            yield from take_steps(problem, state, lambdas[done : done + 1], limits)
            done += 1
            continue
        some = candidates(problem, state, objecting, spare)
        if some is None:
            break
        steps, gram = walk_among(problem, state, some, few, limits)
        kept, back = checked(problem, state, some, steps, limits.tol)
        settle_in(problem, state, some, gram, kept, back.correlation)
        yield from kept
        done += len(kept)
        # Until there is progress, whoever has objected stays.
        found = back.objecting
        objecting = found if kept else np.union1d(objecting, found)
        if found.size:
            length, spare = AGAIN, SPARE[1]
        elif len(kept) < len(steps):
            length = max(len(kept), AGAIN)  # as long as candidates lasted
        elif len(steps) < few.size:
            break  # what is difficult is for those who have all features at hand
        else:
            length = min(length + 1, LONGEST)
    yield from take_steps(problem, state, lambdas[done:], limits)


def is_coarse(problem, lambdas):
    """Whether the strong rule would let in everyone somewhere: one lambda is that far
    below another.

    A usual walk begins with a few of them there, and with a nonconvex penalty the way
    depends on who they are.
    """
    down = np.append(problem.lambda_max, lambdas[lambdas > 0])
    cuts = down[1:] + problem.growth * np.diff(np.minimum(down, problem.lambda_max))
    return not is_lasso(problem) and bool((cuts <= 0).any())


def is_lasso(problem):
    """Whether there is but one solution, whatever the way."""
    return BY_KIND[problem.penalty.kind].gamma is None


def candidates(problem, state, objecting, spare):
    """The features that come first in line, in ascending order; None if too many have
    to be among them: those in use, those who object, those whose products are known."""
    design, cache = problem.design, state.gram
    held = (state.beta != 0) | problem.free
    held[cache.features[: cache.known]] = True
    held[objecting] = True
    count = np.count_nonzero(held)
    most = min(SHARE * design.p, MOST // design.n, AMPLE + MORE * count)
    room = int(most) - count
    if room < max(spare * count, FEWEST):
        return None
    others = np.flatnonzero(~held & np.isfinite(problem.factor))
    reach = np.abs(state.correlation[others]) / problem.factor[others]
    held[others[largest(reach, room)]] = True
    return np.flatnonzero(held)


def walk_among(problem, state, some, lambdas, limits):
    """Steps on the candidates alone, and the products that are known after that.

    They end before the first that did not converge, and with the first that has more
    features than are allowed.
    """
    design, anchor = problem.design, state.fit.anchor
    few, steps = chosen(design, some), []
    place = np.full(design.p, -1)
    place[some] = few.everyone
    own = replace(problem, design=few, factor=problem.factor[some])
    beta, gram = state.beta[some], state.gram.renumbered(few, place)
    fit = Fit(
        few, problem.response, beta, ((beta != 0) | own.free).nonzero()[0],
        Anchor(anchor.beta[some], anchor.correlation[some], anchor.mean_square), gram,
    )
    small = Certificates(few, small=True)
    here = State(
        state.lam, beta, fit, few.correlate(state.fit.residual), small.everyone,
        state.feasible[some], state.member[some], gram, small,
    )
    for step in take_steps(own, here, lambdas, limits):
        step = step._replace(support=some[step.support])
        if not step.converged:
            break
        steps.append(step)
        if step.support.size > limits.dfmax:
            break
    return steps, gram


def chosen(design, some):
    """The design of some columns only."""
    return replace(
        design, matrix=SomeColumns(design.matrix, some, design.center, design.scale),
        center=design.center[some], scale=design.scale[some], norm2=design.norm2[some],
        constant=design.constant[some], everyone=np.arange(some.size),
    )


def checked(problem, state, some, steps, tol):
    """The steps before the first to which somebody else objects, and what a look at
    everyone else has found."""
    if not steps:
        return steps, LookBack([], None, NOBODY)
    design, level = problem.design, problem.units(1.0)[0]
    X, _, center, scale = as_stored(design)
    residuals = np.empty((len(steps), design.n))
    design.kernels.residuals_along(
        X, center, scale, design.weights, problem.response,
        np.cumsum([step.support.size for step in steps]),
        np.concatenate([step.support for step in steps]),
        np.concatenate([step.beta for step in steps]), residuals,
    )
    lambdas = np.array([step.lam for step in steps])
    member = np.zeros(design.p, dtype=bool)
    member[some] = True
    back = state.certificates.look_back(
        residuals, member, problem.factor, level * lambdas, tol,
        level * calls(problem, lambdas),
    )
    kept = [
        step._replace(violation=np.maximum(step.violation, worst / problem.g0))
        for step, worst in zip(steps, back.worst)
    ]
    return kept, back


def calls(problem, lambdas):
    """From which |<x_j, r>| on, per unit of l1, a feature must be a candidate at the
    next lambda: where a usual walk would have it in the working set.

    With a nonconvex penalty the way may depend on it; a lasso has but one solution.
    """
    cuts = np.full(lambdas.size, np.inf)
    if not is_lasso(problem):
        cuts[:-1] = lambdas[1:] + problem.growth * np.diff(lambdas)
    return cuts


def settle_in(problem, state, some, gram, kept, correlation):
    """Let the state be that of the last step that was kept, if any."""
    state.gram = gram.renumbered(problem.design, some)
    if kept:
        last = kept[-1]
        state.beta[:] = 0.0
        state.beta[last.support] = last.beta
        state.member = (state.beta != 0) | problem.free
        state.correlation = correlation
        state.exact = np.zeros(problem.design.p, dtype=bool)
        state.feasible *= last.lam / state.lam
        state.lam = last.lam
        survey(problem, state)
    state.fit = fitted(problem, state)
