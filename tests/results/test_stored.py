"""Files and pickles that are unfinished, damaged, hostile, or of another version."""

import io
import json
import os
import pickle
import stat
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import TESTS
from scipy import sparse

import ncvpath as package
from ncvpath import CvNcvPath, NcvPath, cv_ncvpath, load_diabetes, ncvpath
from ncvpath.results import storage

X, Y = load_diabetes()
SIZE = 6
# Written by the first commit whose results have today's fields but `rounds`, with
# numpy 1.26.4, scipy 1.11.4 and pandas 2.1.4:
#     path = ncvpath(X, y, nlambda=10, weights=np.arange(1.0, 443.0))
#     cv_ncvpath(X, y, nlambda=10, nfolds=3, random_state=1, gamma=[2.0, 3.0])
OLD = TESTS / "data"


@pytest.fixture(scope="module")
def path():
    return ncvpath(X, Y, nlambda=SIZE, record=True, weights=np.arange(1.0, 443.0))


@pytest.fixture(scope="module")
def stored(path):
    stream = io.BytesIO()
    path.save(stream)
    return stream.getvalue()


def refused(content, *words):
    with pytest.raises(ValueError, match="^file must be written by NcvPath.save") as e:
        NcvPath.load(io.BytesIO(content))
    for word in words:
        assert word in str(e.value)


def test_levels_are_read_where_a_file_has_them(path, stored, tmp_path):
    assert storage.read_levels(io.BytesIO(stored)) == {}
    levels = {"site": ["a", "b"], "=": []}
    storage.save(path, tmp_path / "model.npz", levels=levels)
    assert storage.read_levels(tmp_path / "model.npz") == levels
    assert NcvPath.load(tmp_path / "model.npz").p == path.p
    for wrong in (["site"], {"site": "ab"}, {"site": [1]}, None):
        storage.save(path, tmp_path / "model.npz", levels=wrong)
        with pytest.raises(ValueError, match="levels are not"):
            storage.read_levels(tmp_path / "model.npz")


# ---- writing ---------------------------------------------------------------------


class Failing:
    """np.savez_compressed that writes a part, and then fails."""

    def __init__(self, error):
        self.error = error

    def __call__(self, stream, **arrays):
        stream.write(b"PK\x03\x04 half a file")
        raise self.error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left")])
@pytest.mark.parametrize("earlier", [None, b"what was there"])
def test_a_file_is_written_whole_or_not_at_all(
    error, earlier, path, tmp_path, monkeypatch
):
    file = tmp_path / "model.npz"
    if earlier is not None:
        file.write_bytes(earlier)
    monkeypatch.setattr("ncvpath.results.storage.np.savez_compressed", Failing(error))
    with pytest.raises(type(error)):
        path.save(file)
    assert list(tmp_path.iterdir()) == ([] if earlier is None else [file])
    assert earlier is None or file.read_bytes() == earlier


def test_a_saved_file_replaces_the_content_and_keeps_the_rest(path, tmp_path):
    file, link = tmp_path / "model.npz", tmp_path / "link.npz"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    path.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert NcvPath.load(file).p == path.p
    assert sorted(tmp_path.iterdir()) == [link, file]


def test_a_new_file_has_the_usual_permissions(path, tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    path.save(tmp_path / "model.npz")
    modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_device_stays_a_device(path):
    path.save(os.devnull)
    assert not os.path.isfile(os.devnull)


def test_an_error_names_the_file_that_was_asked_for(path, tmp_path):
    file = tmp_path / "no folder" / "model.npz"
    with pytest.raises(FileNotFoundError, match="model.npz"):
        path.save(file)
    with pytest.raises(IsADirectoryError):
        path.save(tmp_path)


def test_names_come_back_as_they_were_whatever_they_are(tmp_path):
    names = ["a\0", "", "\ud800", "\u00e9", "x" * 300, *map(str, range(5))]
    path = ncvpath(X.to_numpy(), Y, nlambda=3, feature_names=names)
    path.save(tmp_path / "model.npz")
    assert NcvPath.load(tmp_path / "model.npz").feature_names == tuple(names)


def test_one_long_name_does_not_make_all_names_long(path):
    p = 20_000
    long = replace(
        path, p=p, feature_names=("x" * p, *(f"x{j}" for j in range(1, p))),
        penalty_factor=np.ones(p), spread=np.ones(p),
        beta=sparse.csc_array((p, SIZE)), df=np.zeros(SIZE, int),
    )
    tracemalloc.start()
    long.save(io.BytesIO())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50_000_000  # 1.6 GB as an array of text


@pytest.mark.parametrize("file", [3, None, 1.5, ["a"]])
def test_what_is_no_file_is_refused(file, path):
    for use in (path.save, NcvPath.load):
        with pytest.raises(ValueError, match="file must be a file name, a path"):
            use(file)


# ---- reading ---------------------------------------------------------------------


def test_a_folder_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"got .*results: a folder"):
        (tmp_path / "results").mkdir()
        NcvPath.load(tmp_path / "results")


def test_an_error_names_the_file_and_what_is_wrong(stored, tmp_path):
    file = tmp_path / "model.npz"
    file.write_bytes(stored[:-30])
    with pytest.raises(ValueError, match=r"got .*model\.npz: BadZipFile"):
        NcvPath.load(file)
    with open(file, "rb") as stream, pytest.raises(ValueError, match=r"model\.npz: "):
        NcvPath.load(stream)


def test_a_file_cut_anywhere_is_refused(stored):
    for size in range(0, len(stored), 53):
        refused(stored[:size])


def changed(stored, members):
    """The file with members replaced; None removes one."""
    source, out = zipfile.ZipFile(io.BytesIO(stored)), io.BytesIO()
    content = {name: source.read(name) for name in source.namelist()} | members
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)
    return out.getvalue()


def npy(values):
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=True)
    return stream.getvalue()


def test_each_member_is_needed(stored):
    for name in zipfile.ZipFile(io.BytesIO(stored)).namelist():
        if name.startswith("work_") or name in ("weights.npy", "spread.npy"):
            continue
        word = name.removesuffix(".npy").removeprefix("round_")
        refused(changed(stored, {name: None}), word)


def test_members_that_are_not_of_the_path_are_not_looked_at(stored, path):
    extra = {"notes.txt": b"\xff", "more.npy": b"no array", "../up.npy": b""}
    back = NcvPath.load(io.BytesIO(changed(stored, extra)))
    np.testing.assert_array_equal(back.coef(), path.coef())


class Bomb:
    """Unpickled, it leaves a file behind."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_no_code_is_executed(stored, tmp_path):
    mark = tmp_path / "executed"
    objects = npy(np.array([Bomb(mark)] * SIZE, dtype=object))
    bare = pickle.dumps(Bomb(mark))
    for name in zipfile.ZipFile(io.BytesIO(stored)).namelist():
        refused(changed(stored, {name: objects}), name.removesuffix(".npy"))
        refused(changed(stored, {name: bare}))
    refused(bare)
    refused(objects)
    assert not mark.exists()
    pickle.loads(bare)
    assert mark.exists()  # it would have worked


def header(shape, descr="<f8"):
    """The beginning of an npy file that claims this shape."""
    stream = io.BytesIO()
    claim = dict(descr=descr, fortran_order=False, shape=shape)
    np.lib.format.write_array_header_1_0(stream, claim)
    return stream.getvalue()


@pytest.fixture
def never_unpacked(monkeypatch):
    """Arrays that are refused by their headers; to read their data is an error."""
    names, read = set(), np.lib.format.read_array

    def watched(stream, **keywords):
        assert stream.name not in names
        return read(stream, **keywords)

    monkeypatch.setattr(np.lib.format, "read_array", watched)
    return names


@pytest.mark.parametrize("shape", [(10**12,), (2**63,), (-1,), (SIZE, 10**9), (SIZE,)])
def test_claims_of_a_header_are_compared_first(shape, stored, never_unpacked):
    never_unpacked.add("lambdas.npy")
    refused(changed(stored, {"lambdas.npy": header(shape)}), "lambdas")


@pytest.mark.parametrize(
    "name", ["lambdas", "beta_data", "names_text", "facts", "penalty_factor"]
)
def test_a_bomb_of_zeros_is_not_unpacked(name, stored, never_unpacked):
    never_unpacked.add(f"{name}.npy")
    zeros = header((10**6,)) + bytes(8 * 10**6)
    refused(changed(stored, {f"{name}.npy": zeros}), name)


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused(way, stored):
    source, out = zipfile.ZipFile(io.BytesIO(stored)), io.BytesIO()
    with zipfile.ZipFile(out, "w", way) as archive:
        for name in source.namelist():
            archive.writestr(name, source.read(name))
    refused(out.getvalue(), "compressed in another way")


def arrays_of(stored):
    with np.load(io.BytesIO(stored)) as content:
        return dict(content)


def with_fact(name, value):
    def change(arrays):
        facts = json.loads(str(arrays["facts"]))
        return dict(facts=np.array(json.dumps(facts | {name: value})))

    return change


def at(name, k, value):
    """One number of an array replaced."""
    def change(arrays):
        values = arrays[name].copy()
        values[k] = value
        return {name: values}

    return change


FLOATS = (
    "lambdas", "intercept", "loss", "dev_ratio", "objective", "violation", "beta_data",
    "weights", "penalty_factor",
)
INCONSISTENT = {
    **{f"NaN in {name}": (at(name, 1, np.nan), "") for name in FLOATS},
    "infinite coefficient": (at("beta_data", 0, np.inf), "not finite"),
    "negative weight": (at("weights", 0, -1.0), "weights are not >= 0"),
    "negative factor": (at("penalty_factor", 0, -1.0), "penalty_factor"),
    "lambdas rise": (lambda a: dict(lambdas=a["lambdas"][::-1]), "lambdas rise"),
    "negative lambda": (at("lambdas", -1, -1.0), "lambdas are negative"),
    "wrong df": (at("df", 3, 99), "df does not count"),
    "negative epochs": (at("n_epochs", 0, -1), "n_epochs"),
    "converged, but not": (at("converged", 2, False), "converged is not"),
    "a coefficient twice": (
        lambda a: dict(beta_indices=0 * a["beta_indices"]), "there twice"
    ),
    "a falling pointer": (at("beta_indptr", 2, 10**6), ""),
    "too many coefficients": (at("beta_indptr", -1, 10**6), "beta_data must have"),
    "a negative row": (at("beta_indices", 0, -1), ""),
    "names beyond their text": (at("names_ends", -1, 99), "names_text must have"),
    "the same name twice": (
        lambda a: dict(names_text=np.full(10, 65, np.uint8),
                       names_ends=np.arange(1, 11)), "not distinct",
    ),
    "names that end before they begin": (at("names_ends", 3, 0), "ends of names"),
    "names that are no text": (at("names_text", 0, 255), "UnicodeDecodeError"),
    "a spread below 0": (at("spread", 0, -1.0), "spread is not >= 0"),
    "df as floats": (lambda a: dict(df=a["df"].astype(float)), "df must have"),
    "converged as integers": (
        lambda a: dict(converged=a["converged"].astype(int)), "converged must have"
    ),
    "complex lambdas": (
        lambda a: dict(lambdas=a["lambdas"].astype(complex)), "lambdas must have"
    ),
    "a matrix of lambdas": (lambda a: dict(lambdas=a["lambdas"][None]), "shape"),
    "names as numbers": (
        lambda a: dict(names_text=a["names_text"].astype(float)), "names_text"
    ),
    "rounds of no lambda": (at("round_which", 0, SIZE), "other lambdas"),
    "rounds too few": (
        lambda a: dict(round_step=a["round_step"][:-1]), "not as many"
    ),
    "rounds as text": (
        lambda a: dict(round_step=a["round_step"].astype(str)), "round_step"
    ),
    "n is zero": (with_fact("n", 0), "n is not a count"),
    "p is a switch": (with_fact("p", True), "p is not a count"),
    "p is huge": (with_fact("p", 10**30), ""),
    "p is text": (with_fact("p", "10"), "p is not a count"),
    "no status": (with_fact("status", []), "no lambdas"),
    "status is text": (with_fact("status", "ok"), "status is not a list"),
    "statuses are numbers": (with_fact("status", [1] * SIZE), "list of texts"),
    "constant names strangers": (with_fact("constant", ["?"]), "constant names"),
    "unknown penalty": (with_fact("penalty", "bridge"), "unknown penalty 'bridge'"),
    "penalty is a list": (with_fact("penalty", ["MCP"]), "unknown penalty"),
    "gamma too small": (with_fact("gamma", 1.0), "gamma=1.0 is impossible"),
    "gamma is NaN": (with_fact("gamma", float("nan")), "gamma=nan is impossible"),
    "no gamma": (with_fact("gamma", None), "gamma=None is impossible"),
    "lasso with gamma": (with_fact("penalty", "lasso"), "lasso has no gamma"),
    "alpha zero": (with_fact("alpha", 0), "alpha=0 is impossible"),
    "tol negative": (with_fact("tol", -1.0), "tol=-1.0 is impossible"),
    "stopped is a number": (with_fact("stopped", 3), "stopped is not a text"),
    "convex_min beyond": (with_fact("convex_min", SIZE), "not on the path"),
    "intercept is 1": (with_fact("has_intercept", 1), "has_intercept"),
    "settings are a list": (with_fact("settings", []), "settings"),
    "deep facts": (lambda a: dict(facts=np.array("[" * 10**5)), "RecursionError"),
}


@pytest.mark.parametrize(
    ("change", "words"), INCONSISTENT.values(), ids=INCONSISTENT.keys()
)
def test_contents_that_contradict_each_other_are_refused(change, words, stored):
    arrays, stream = arrays_of(stored), io.BytesIO()
    np.savez(stream, **(arrays | change(arrays)))
    refused(stream.getvalue(), words)


def test_numbers_of_another_byte_order_are_read(stored, path):
    arrays, stream = arrays_of(stored), io.BytesIO()
    swapped = {
        name: values.astype(values.dtype.newbyteorder())
        for name, values in arrays.items() if values.dtype.kind in "if"
    }
    np.savez(stream, **(arrays | swapped))
    stream.seek(0)
    back = NcvPath.load(stream)
    assert back.lambdas.dtype == np.float64
    pd.testing.assert_frame_equal(back.coef(), path.coef())
    np.testing.assert_array_equal(back.predict(X), path.predict(X))


# ---- other versions ----------------------------------------------------------------


def old_pickle(name):
    return pickle.loads((OLD / name).read_bytes())


OLD_PATHS = {
    "pickle": lambda: old_pickle("path-0.1.0.pickle"),
    "file": lambda: NcvPath.load(OLD / "path-0.1.0.npz"),
}


@pytest.mark.parametrize("read", OLD_PATHS.values(), ids=OLD_PATHS.keys())
def test_a_path_of_an_older_version_answers(read):
    old = read()
    assert isinstance(old, NcvPath)
    new = ncvpath(X, Y, nlambda=10, weights=np.arange(1.0, 443.0))
    np.testing.assert_allclose(old.coef(), new.coef(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(old.predict(X), new.predict(X), rtol=1e-6)
    assert old.trace is None
    assert len(old.screening) == len(old.summary()) == 10
    assert "MCP" in repr(old) and "<table" in old._repr_html_()
    again = pickle.loads(pickle.dumps(old))
    pd.testing.assert_frame_equal(again.coef(), old.coef())
    stream = io.BytesIO()
    old.save(stream)
    stream.seek(0)
    pd.testing.assert_frame_equal(NcvPath.load(stream).coef(), old.coef())
    cv = old.cross_validate(X=X, y=Y, nfolds=3, random_state=1)
    np.testing.assert_array_equal(cv.fit.lambdas, old.lambdas)


def test_a_cross_validation_of_an_older_version_answers():
    old = old_pickle("cv-0.1.0.pickle")
    assert isinstance(old, CvNcvPath)
    new = cv_ncvpath(X, Y, nlambda=10, nfolds=3, random_state=1, gamma=[2.0, 3.0])
    # Beyond the convex part there may be several solutions, of which the newer version
    # need not find the same.
    edges = [
        ncvpath(X[train], Y[train], lambdas=new.lambdas, gamma=new.gamma).convex_min
        for train in (new.folds != fold for fold in range(3))
    ]
    convex = slice(min(edges) + 1)
    assert min(edges) > 1
    np.testing.assert_allclose(old.cve[convex], new.cve[convex], rtol=1e-5)
    np.testing.assert_array_equal(old.folds, new.folds)
    sizes = np.bincount(old.folds)
    np.testing.assert_allclose(old.cve, sizes @ old.fold_errors / 442, rtol=1e-12)
    assert old.selected("1se") == new.selected("1se")
    assert (old.gamma, len(old.grid)) == (new.gamma, len(new.grid))
    assert repr(old) and len(old.summary()) == 2
    assert old.plot(kind="grid").get_ylabel() == "gamma"
    again = pickle.loads(pickle.dumps(old))
    np.testing.assert_array_equal(again.cve, old.cve)


def test_pickles_and_files_say_which_version_wrote_them(path, stored):
    assert path.__getstate__()["version"] == package.__version__
    facts = json.loads(str(arrays_of(stored)["facts"]))
    assert facts["version"] == package.__version__
    assert not hasattr(pickle.loads(pickle.dumps(path)), "version")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(version="9.1", flavour="sweet"), "written by 9.1 and has 'flavour'"),
        (dict(version="9.1", lambdas=None), "written by 9.1 and lacks 'lambdas'"),
        (dict(version=None, status=None), r"0\.1\.0 \(an early one\) and lacks 'stat"),
    ],
)
def test_a_pickle_that_cannot_be_read_says_who_wrote_it(change, words, path):
    state = path.__getstate__() | change
    state = {name: v for name, v in state.items() if change.get(name, v) is not None}
    fresh = object.__new__(NcvPath)
    with pytest.raises(ValueError, match=words):
        fresh.__setstate__(state)


def test_a_file_of_another_format_says_who_wrote_it(stored):
    arrays, stream = arrays_of(stored), io.BytesIO()
    facts = json.loads(str(arrays["facts"])) | {"format": 7, "version": "9.1"}
    np.savez(stream, **(arrays | {"facts": np.array(json.dumps(facts))}))
    refused(stream.getvalue(), "format 7, written by ncvpath 9.1", package.__version__)
