"""LSA is the decomposition of the matrix it says, and its kernels give the numbers of plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from numba.core.errors import TypingError
from numpy.testing import assert_allclose
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from helpers import large_counts, random_counts
from reference import csr as reference_rows
from reference import lsa as reference
from semascope import LSA, Corpus, ThreadEngine, load
from semascope.kernels.csr import facts_of_words
from semascope.kernels.linalg import eigenvalues, subtract_product
from semascope.kernels.sparse_products import entries_of_product, project_documents, project_words, squares_of_columns
from semascope.training.linalg import append_column, deflate, fix_signs, gram, multiply, multiply_blocks, reorder
from semascope.training.weighting import WEIGHTINGS

PRECISIONS = {"float32": 2e-6, "float64": 1e-13}


@pytest.mark.parametrize(("dtype", "rtol"), PRECISIONS.items())
@pytest.mark.parametrize("width", [1, 7, 8, 13, 40, 48, 50, 96, 100])
def test_passes_give_the_numbers_of_sparse_products(dtype, rtol, width):
    shard = Corpus.from_matrix(random_counts(3, n_documents=50, n_words=40)).shards()[0]
    generator = np.random.default_rng(width)
    values = generator.normal(size=len(shard.rows.words)).astype(dtype)
    matrix = sp.csr_array((values, shard.rows.words, shard.rows.ends), shape=(50, 40)).astype(np.float64)
    basis = generator.normal(size=(40, width)).astype(dtype)
    rows, totals = np.empty((50, width), dtype), np.zeros((40, width), np.int64)
    project_documents(shard.rows.ends, shard.rows.words, values, basis, rows)
    assert_allclose(rows, matrix @ basis, rtol=rtol, atol=50 * rtol)
    words, ends, documents, places = shard.by_word
    project_words(words, ends, documents, values[places], rows, totals, 2.0**35, 0, len(words))
    assert_allclose(totals / 2.0**35, matrix.T @ rows, rtol=rtol, atol=500 * rtol)
    entries = np.empty(len(values), dtype)
    entries_of_product(shard.rows.ends, shard.rows.words, rows, basis, entries)
    documents = np.repeat(np.arange(50), np.diff(shard.rows.ends))
    assert_allclose(entries, (rows @ basis.T)[documents, shard.rows.words], rtol=rtol, atol=500 * rtol)


@pytest.mark.parametrize("n_rows", [0, 1, 2048, 5000])
def test_products_of_tall_tables_are_those_of_numpy(n_rows):
    generator = np.random.default_rng(n_rows)
    one, other = generator.normal(size=(n_rows, 6)), generator.normal(size=(n_rows, 3))
    assert_allclose(gram(one, other), one.T @ other, atol=1e-11)
    assert_allclose(multiply(one, np.eye(6)[:, :2]), one[:, :2])
    small = generator.normal(size=(9, 4))
    assert_allclose(multiply_blocks([one, other], small), np.hstack([one, other]) @ small, atol=1e-11)


@pytest.mark.parametrize("width", [4, 24, 50])
@pytest.mark.parametrize("n_rows", [1, 5000])
def test_what_is_taken_out_of_a_table_is_what_others_have_of_it(n_rows, width):
    generator = np.random.default_rng(n_rows)
    stack, small, table = (generator.normal(size=shape) for shape in ((3, n_rows, 2), (6, width), (n_rows, width)))
    wanted = table - np.hstack(list(stack)) @ small
    assert_allclose(gram(stack, table), np.hstack(list(stack)).T @ table, atol=1e-11)
    square = deflate(table, stack, small)
    assert_allclose(table, wanted)
    assert_allclose(square, wanted.T @ wanted, atol=1e-10)


@pytest.mark.parametrize(("dtype", "rtol"), PRECISIONS.items())
@pytest.mark.parametrize("shape", [(1, 5, 3), (2, 48, 24), (3, 48, 48), (7, 30, 31), (100, 48, 96)])
def test_a_product_is_subtracted_as_numpy_does_it(shape, dtype, rtol):
    n_rows, n_factors, width = shape
    generator = np.random.default_rng(width)
    table, other, small = (
        generator.normal(size=size).astype(dtype) for size in ((n_rows, width), (n_rows, n_factors), (n_factors, width))
    )
    wanted = table.astype(np.float64) - other.astype(np.float64) @ small
    subtract_product(table, other, small)
    assert_allclose(table, wanted, rtol=rtol, atol=20 * rtol)


def test_kernels_refuse_tables_whose_rows_do_not_lie_in_one_piece():
    table, other, small = np.zeros((3, 24)), np.ones((3, 24)), np.ones((24, 24))
    with pytest.raises(TypingError, match="must be contiguous"):
        subtract_product(table, other, np.asfortranarray(small))


def test_columns_come_into_another_order():
    table = np.random.default_rng(0).normal(size=(3000, 5))
    for order in ([0, 1, 2, 3, 4], [0, 2, 1, 3, 4], [4, 3, 2, 1, 0]):
        ordered = table.copy()
        reorder(ordered, np.array(order))
        assert (ordered == table[:, order]).all()


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_eigenvalues_are_those_of_numpy(dtype):
    table = np.random.default_rng(0).normal(size=(60, 40)).astype(dtype)
    assert_allclose(eigenvalues(table.T @ table), np.linalg.eigvalsh(table.T @ table), rtol=1e-4)


def test_a_stack_grows_and_keeps_what_it_has():
    stack = np.empty((0, 2, 3))
    for number in range(30):
        stack = append_column(stack)
        stack[-1] = number
    assert (stack == np.arange(30)[:, None, None]).all()


def test_columns_are_turned_upright_and_measured():
    table = np.random.default_rng(0).normal(size=(3000, 5))
    turned, weights = table.copy(), np.arange(3000.0)
    fix_signs(turned)
    assert_allclose(np.abs(turned), np.abs(table))
    assert (turned[np.abs(table).argmax(axis=0), np.arange(5)] > 0).all()
    assert_allclose(squares_of_columns(table, weights), weights @ table**2)


def test_what_is_known_of_words_is_what_numpy_says():
    counts = random_counts(4)
    counts[:, 3] = 0
    shard = Corpus.from_matrix(counts).shards()[0]
    assert (shard.counts_by_word == shard.rows.counts[shard.by_word.places]).all()
    assert_allclose(facts_of_words(shard.by_word.ends, shard.counts_by_word), reference_rows.facts_of_words(counts))


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_entries_by_word_are_those_by_document(weighting, dtype):
    counts = random_counts(4)
    counts[3] = 0
    shard = Corpus.from_matrix(counts).shards()[0]
    of_word = np.random.default_rng(0).uniform(size=counts.shape[1])
    by_document, by_word = WEIGHTINGS[weighting].both_orders(shard, counts.sum(), of_word, dtype)
    assert (by_document == WEIGHTINGS[weighting].values(shard.rows, counts.sum(), of_word, dtype)).all()
    assert (by_word == by_document[shard.by_word.places]).all()


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_the_matrix_is_weighted_as_it_says(weighting):
    counts = random_counts(4)
    model = LSA(5, weighting=weighting, dtype="float64", tol=1e-12, random_state=0).fit(counts)
    values = np.linalg.svd(reference.weighted(counts, weighting), compute_uv=False)
    assert_allclose(model.singular_values_, values[:5], rtol=1e-6)


def test_tf_idf_is_that_of_scikit_learn():
    counts = random_counts(5)
    theirs = TruncatedSVD(4, algorithm="arpack", random_state=0).fit(TfidfTransformer().fit_transform(counts))
    ours = LSA(4, weighting="tfidf", dtype="float64", tol=1e-12, random_state=0).fit(counts)
    assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["randomized", "arpack"])
@pytest.mark.parametrize("seed", range(10))
def test_the_decomposition_is_that_of_the_dense_reference(solver, seed):
    counts = random_counts(seed)
    model = LSA(6, solver=solver, dtype="float64", tol=1e-13, max_iter=60, random_state=seed).fit(counts)
    wanted = reference.truncated(reference.amplitudes(counts), 6)
    found = model.doc_vectors_ * np.sqrt(model.document_shares_)[:, None] @ model.components_
    assert_allclose(found, wanted, atol=1e-6)
    assert_allclose(model.components_ @ model.components_.T, np.eye(6), atol=1e-10)
    assert_allclose(model.transform(counts), model.doc_vectors_, atol=1e-5)
    assert (model.components_[np.arange(6), np.abs(model.components_).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_residual_is_what_is_left_of_the_matrix(dtype):
    counts = large_counts()
    model = LSA(12, dtype=dtype, random_state=0).fit(counts)
    psi = reference.amplitudes(counts)
    found = model.doc_vectors_ * np.sqrt(model.document_shares_)[:, None] @ model.components_
    assert_allclose(np.linalg.norm(psi - found), model.residuals_[-1], rtol=1e-5)
    best = np.linalg.norm(psi - reference.truncated(psi, 12))
    assert best * (1 - 1e-6) <= model.residuals_[-1] <= best * 1.001
    assert model.stopped_by_ == "converged"


@pytest.mark.parametrize("spread", [1, 10, 100, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_vectors_stay_orthonormal_in_single_precision_however_far_values_are_spread(spread, seed):
    generator = np.random.default_rng(seed)
    counts = generator.random((300, 200)) + spread * np.outer(generator.random(300), generator.random(200))
    model = LSA(20, weighting="counts", tol=0, max_iter=6, random_state=seed).fit(counts)
    assert_allclose(model.components_ @ model.components_.T, np.eye(20), atol=2e-5)
    values = np.linalg.svd(counts, compute_uv=False)[:20]
    assert_allclose(model.singular_values_, values, rtol=2e-3 if spread < 1000 else 2e-2)


def awkward_matrices():
    """Matrices that have less to find than is looked for, all alike, or out of the ordinary in size."""
    generator = np.random.default_rng(0)
    few = generator.random((60, 5)) @ generator.random((5, 80))
    return {
        "of equal values": np.eye(100),
        "of equal values and documents": np.eye(100)[generator.permutation(np.repeat(np.arange(100), 6))],
        "narrow": generator.random((60, 20)),
        "wide": generator.random((20, 60)),
        "of low rank": few,
        "of huge counts": 1e8 * generator.random((300, 200)),
        "of tiny counts": 1e-12 * generator.random((300, 200)),
    }


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("settings", [{}, {"tol": 0, "max_iter": 15}], ids=["by default", "long after all is found"])
@pytest.mark.parametrize(("kind", "n"), [*zip(awkward_matrices(), (40, 40, 20, 20, 10, 10, 10), strict=True)])
def test_nothing_is_found_that_is_not_there(kind, n, settings, dtype):
    counts = awkward_matrices()[kind]
    model = LSA(n, weighting="counts", dtype=dtype, random_state=0, **settings).fit(counts)
    values = np.linalg.svd(counts, compute_uv=False)[:n]
    assert_allclose(model.singular_values_, values, rtol=0.03, atol=1e-3 * values[0])
    there = values > 1e-6 * values[0]
    lengths = np.linalg.norm(model.components_, axis=1)
    assert_allclose(lengths[there], 1, atol=1e-4)
    assert (lengths < 1 + 1e-4).all()
    products = model.components_[there] @ model.components_[there].T
    assert_allclose(products, np.eye(there.sum()), atol=1e-4)


def test_passes_make_the_residual_smaller():
    residuals = LSA(12, dtype="float64", tol=0, max_iter=12, random_state=1).fit(large_counts()).residuals_
    assert len(residuals) == 12 + 1
    assert all(later <= earlier + 1e-12 for earlier, later in zip(residuals, residuals[1:], strict=False))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    ours, theirs = (LSA(9, random_state=3, engine=ThreadEngine(n)).fit(large_counts()) for n in (2, n_threads))
    assert ours.components_.tobytes() == theirs.components_.tobytes()
    assert ours.doc_vectors_.tobytes() == theirs.doc_vectors_.tobytes()
    assert ours.hellinger_distance_ == theirs.hellinger_distance_


def test_a_saved_model_is_the_same_model(tmp_path):
    corpus = Corpus.from_texts(["cats purr", "cats sleep", "dogs bark", "dogs sleep"])
    model = LSA(2, random_state=0).fit(corpus)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, LSA)
    assert loaded.transform(["cats bark"]).tobytes() == model.transform(["cats bark"]).tobytes()
    assert loaded.similar_words("purr") == model.similar_words("purr")
    assert loaded.hellinger_distance_ == model.hellinger_distance_
    assert loaded.get_params() == model.get_params() | {"engine": None}


def test_neighbors_are_words_and_documents_of_the_same_kind():
    texts = ["cats purr softly", "cats and kittens purr", "kittens are cats", "stocks fall", "bonds and stocks fall", "bonds"]
    model = LSA(2, random_state=0).fit(texts)
    assert {word for word, _ in model.similar_words("purr", 3)} <= {"cats", "kittens", "softly", "are"}
    assert model.similar_documents(0, 1)[0][0] in (1, 2)
    assert model.similar_documents("stocks and bonds", 3)[0][0] in (3, 4, 5)
    assert all(document != 0 for document, _ in model.similar_documents(0, 5))
