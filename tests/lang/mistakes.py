"""One wrong program for every kind of message; tests/lang/golden/errors holds what is said about it."""

HEAD = "def f(float(M,K) A, float(K,N) B, int32(M) I, bool(M) P, float s) -> (C) {\n    "


def body(text: str) -> str:
    """A statement in a def with two matrices, an index vector, a mask and a scalar."""
    return f"{HEAD}{text}\n}}"


SYNTAX = {
    "no_def": "C(i) = A(i)",
    "missing_arrow": "def f(float(N) A) (B) { B(i) = A(i) }",
    "arrow_without_parentheses": "def f(float(N) A) -> B { B(i) = A(i) }",
    "no_outputs": "def f(float(N) A) -> () { B(i) = A(i) }",
    "missing_brace": "def f(float(N) A) -> (B) { B(i) = A(i)",
    "missing_parenthesis": body("C(m) = exp(A(m, 0)"),
    "brackets": body("C(m) +=! A[m, k]"),
    "semicolon": body("C(m) +=! A(m, k);"),
    "not_a_token": body("C(m) +=! A(m, k) $ 2"),
    "number_with_suffix": body("C(m,k) = 1.0f * A(m, k)"),
    "not_an_assignment": body("C(m) -= A(m, k)"),
    "missing_expression": body("C(m) +=!"),
    "operator_twice": body("C(m) +=! A(m, k) * * 2"),
    "words_for_operators": body("C(m) = P(m) and P(m)"),
    "power": body("C(m,k) = A(m, k) ** 2"),
    "range_with_dots": body("C(m) +=! A(m, k) where k in 0..3"),
    "range_without_in": body("C(m) +=! A(m, k) where k = 0:3"),
    "reserved_word": body("for(m) = A(m, 0)"),
    "input_without_type": "def f(A) -> (B) { B(i) = A(i) }",
    "unicode": body("C(m,k) = \u03b1 * A(m, k)"),
    "several": body("C(m) +=! A[m, k]\n    D(m) = A(m, 0) +\n    E(m) = = 2\n    C(m) = D(m) + foo(m)"),
    "two_defs": "def f(float(N) A) -> (B) { B(i) = A(i }\ndef g(float(N) A) -> (B) { B(i) += }\ndef h(x) -> y {}",
    "deep": "def f(float(N) A) -> (B) { B(i) = " + "(" * 300 + "A(i)" + ")" * 300 + " }",
    "deep_minus": "def f(float(N) A) -> (B) { B(i) = " + "-" * 300 + "A(i) }",
    "long_chain": "def f(float(N) A) -> (B) { B(i) = A(i)" + " + A(i)" * 300 + " }",
    "long_name": f"def {'f' * 101}(float(N) A) -> (B) {{ B(i) = A(i) }}",
    "large": "# " + "x" * 1_000_000,
    "comparison_as_pointer": body("C(m) = A(m, 0) =< 2.0 ? 1.0 : 0.0"),
    "ternary_without_colon": body("C(m) = P(m) ? 1.0"),
    "chained_text": body("C(m) = A(m, 0) where m in 0:4 and m < 3"),
}

NAMES = {
    "undefined_tensor": body("C(m,n) +=! A(m,k) * BB(k,n)"),
    "undefined_function": body("C(m,k) = tahn(A(m,k))"),
    "undefined_scalar": body("C(m,k) = S * A(m,k)"),
    "output_never_written": "def f(float(N) A) -> (Out) { Output(i) = A(i) }",
    "read_before_write": body("T(m) = U(m)\n    U(m) = A(m,0)\n    C(m) = T(m)"),
    "read_own_value": body("C(m) = C(m) + A(m,0)"),
    "twice_a_parameter": "def f(float(N) A, float(N) A) -> (B) { B(i) = A(i) }",
    "twice_a_let": body("C(m) = x where x = A(m,0), x = 2.0"),
    "let_of_a_tensor_name": body("C(m) = A where A = 2.0"),
    "twice_a_range": body("C(m) +=! A(m,k) where k in 0:3, k in 0:4"),
    "range_of_a_size": body("C(m) +=! A(m,k) where K in 0:3"),
    "twice_a_def": "def f(float(N) A) -> (B) { B(i) = A(i) }\ndef f(float(N) A) -> (B) { B(i) = A(i) }",
    "builtin_as_tensor": "def f(float(N) A) -> (exp) { exp(i) = A(i) }",
    "type_as_tensor": "def f(float(N) A) -> (double) { double(i) = A(i) }",
    "word_as_index": body("C(inf) = A(inf, 0)"),
    "unknown_type": "def f(flaot(N) A) -> (B) { B(i) = A(i) }",
    "unknown_size": "def f(float(N) A) -> (float(M) B) { B(i) = A(i) }",
    "unknown_monoid": body("(C(m)) argmin=! (A(m,k))"),
    "unknown_promise": "def f(int32(N) I) -> (B) where unique(I) { B(i) = I(i) }",
    "promise_of_output": "def f(int32(N) I) -> (B) where injective(B) { B(i) = I(i) }",
    "loop_bound": body("for t in 0:Q { C(m) = A(m,0) }"),
    "loop_name": body("for M in 0:4 { C(m) = A(m,0) }"),
}

RANKS = {
    "too_few_subscripts": body("C(m,n) +=! A(m,k) * B(k)"),
    "too_many_subscripts": body("C(m,n) +=! A(m,k,n)"),
    "tensor_as_scalar": body("C(m) = A"),
    "scalar_as_tensor": body("C(m) = s(m) * A(m,0)"),
    "size_as_tensor": body("C(m) = M(m) * A(m,0)"),
    "target_rank": body("C(m,k) = A(m,k)\n    C(m) = A(m,0)"),
    "builtin_arity": body("C(m,k) = pow(A(m,k))"),
    "min_arity": body("C(m,k) = min(A(m,k))"),
    "cast_arity": body("C(m,k) = double(A(m,k), 2)"),
    "annotated_rank": "def f(float(N) A) -> (float(N,N) B) { B(i) = A(i) }",
}

TYPES = {
    "float_subscript": body("C(m) = A(m, 0.5)"),
    "float_index_tensor": "def f(float(V,D) T, float(N) I) -> (O) { O(n,d) = T(I(n), d) }",
    "float_bound": body("C(m) +=! A(m,k) where k in 0:1.5"),
    "float_dimension": "def f(float(N) A, float x) -> (float(x) B) { B(i) = A(i) }",
    "not_boolean": body("C(m,k) = A(m,k) && true ? 1.0 : 2.0"),
    "condition": body("C(m,k) = A(m,k) ? 1.0 : 2.0"),
    "boolean_sum": body("C(m) = P(m) + P(m)"),
    "boolean_difference": body("C(m) = (P(m) || m > 3) - P(0)"),
    "boolean_remainder": body("C(m) = P(m) % P(0)"),
    "boolean_minus": body("C(m) = -P(m)"),
    "boolean_reduction": "def g<T>(T(N) X) -> (s) { s +=! X(i) }\ndef f(bool(N) P) -> (s) { s = g(P) }",
    "boolean_type": "def g<T>(T(N) X) -> (Y) { Y(i) = 2 * X(i) }\ndef f(bool(N) P) -> (Y) { Y = g(P) }",
    "branches": "def g<T>(T(N) X) -> (Y) { Y(i) = X(i) == X(0) ? 1 : X(i) }\ndef f(bool(N) P) -> (Y) { Y = g(P) }",
    "chained_comparison": body("C(m) = 0 < A(m,0) < 1 ? 1.0 : 0.0"),
    "bits_of_float": body("C(m,k) = A(m,k) & 1"),
    "bits_and_comparison": body("C(m) = I(m) & 1 == 0 ? 1 : 2"),
    "modulo_of_float": body("C(m,k) = A(m,k) % 2.0"),
    "narrower_output": "def f(double(N) A) -> (float(N) B) { B(i) = A(i) }",
    "narrower_later": body("C(m) = 0 where m in 0:M\n    C(m) += A(m,k)"),
    "integer_too_large": body("C(m) = I(m) + 9223372036854775808"),
    "logical_not": body("C(m) = !I(m)"),
    "bitwise_not": body("C(m,k) = ~A(m,k)"),
}

CLASSES = {
    "unknown_class": "def f<T: flots>(T(N) A) -> (B) { B(i) = A(i) }",
    "type_of_another_class": (
        "def g<T: floats>(T(N) X) -> (Y) { Y(i) = sqrt(X(i)) }\ndef f(int32(N) A) -> (B) { B = g(A) }"
    ),
    "scalar_of_another_class": (
        "def g<T: integers>(float(N) X, T s) -> (Y) { Y(i) = X(i) * s }\ndef f(float(N) A) -> (B) { B = g(A, 0.5) }"
    ),
    "field_of_another_class": (
        "monoid most<T: floats>(T v) { identity (-inf) combine (a), (b) -> (max(a, b)) }\n"
        "def f(int32(N) A) -> (B) { (B) most=! (A(i)) }"
    ),
    "class_without_name": "def f<T:>(T(N) A) -> (B) { B(i) = A(i) }",
}
STATEMENTS = {
    "no_reduction": body("C(m,n) = A(m,k) * B(k,n)"),
    "input_written": body("A(m,k) = 0.0\n    C(m) = A(m,0)"),
    "scalar_written": "def f(float(N) A, int32 n) -> (B) { n = 2\n B(i) = A(i+n) }",
    "temporary_accumulated": body("T(m) += A(m,k)\n    C(m) = T(m)"),
    "tensor_in_bound": body("C(m) +=! A(m,k) where k in 0:I(m)"),
    "tensor_in_loop": body("for t in 0:I(0) { C(m) = A(m,t) }"),
    "unused_range": body("C(m) = A(m,0) where q in 0:3"),
    "range_uses_unknown": body("C(m) +=! A(m,k) where k in 0:q"),
    "free_depends_on_reduced": body("C(m) +=! A(m,k) where m in 0:k"),
    "circular_ranges": body("C +=! A(m,k) where m in 0:k, k in 0:m"),
    "tuple_subscripts": "monoid p(float a, float b) { identity (0.0, 0.0) combine (a, b), (c, d) -> (a + c, b + d) }\n"
    "def f(float(M,N) A) -> (X, Y) { (X(m), Y(n)) p=! (A(m,n), A(m,n)) }",
    "tuple_count": "monoid p(float a, float b) { identity (0.0, 0.0) combine (a, b), (c, d) -> (a + c, b + d) }\n"
    "def f(float(M,N) A) -> (X) { (X(m)) p=! (A(m,n)) }",
    "monoid_count": "monoid p(float a, float b) { identity (0.0) combine (a, b), (c, d) -> (a + c, b + d) }\n"
    "def f(float(M,N) A) -> (X, Y) { (X(m), Y(m)) p=! (A(m,n), A(m,n)) }",
    "monoid_type": "monoid p(int32 a) { identity (0) combine (a), (b) -> (a + b) }\n"
    "def f(float(M,N) A) -> (X) { (X(m)) p=! (A(m,n)) }",
    "monoid_identity": "monoid p(int32 a) { identity (0.5) combine (a), (b) -> (a + b) }\n"
    "def f(int32(M,N) A) -> (X) { (X(m)) p=! (A(m,n)) }",
    "scatter_without_type": "def f(float(N) A, int32(N) I) -> (O) { O(I(n)) +=! A(n) }",
}

INFERENCE = {
    "ambiguous": "def f(float(N) A) -> (O) { O(i,j) = A(i+j) }",
    "constant": body("C(i,j) = 3.0"),
    "one_sided": "def f(float(N) A, int32(N) I) -> (O) { O(i,j) = A(I(j) + i) }",
    "diagonal_mix": "def f(float(N,N) I) -> (O) { O(i,j) = I(10+i-j, i+j) }",
    "empty_range": body("C(i) = 3.0 where i in 8:4"),
    "empty_inferred": "def f(float(4) A, float(4) B) -> (O) { O(i) = A(i) + B(i-4) }",
    "empty_loop": body("for t in 3:3 { C(m) = A(m,t) }"),
    "annotated_extent": "def f(float(4) A) -> (float(4) B) { B(i) = A(i/2) }",
    "annotated_minimum": "def f(float(4) A) -> (float(8) B) { B(i - 1) = A(i) }",
}

CALLS = {
    "inputs": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\ndef f(float(N) A) -> (B) { B = g(A, A) }",
    "outputs": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\ndef f(float(N) A) -> (B, C) { (B, C) = g(A) }",
    "recursive": "def f(float(N) A) -> (B) { B = f(A) }",
    "mutual": "def g(float(N) X) -> (Y) { Y = f(X) }\ndef f(float(N) A) -> (B) { B = g(A) }",
    "in_expression": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\ndef f(float(N) A) -> (B) { B(i) = g(A) + 1.0 }",
    "rank": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\ndef f(float(N,N) A) -> (B) { B = g(A) }",
    "type": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\ndef f(double(N) A) -> (B) { B = g(A) }",
    "sizes": "def g(float(N) X, float(N) Z) -> (Y) { Y(i) = X(i) + Z(i) }\n"
    "def f(float(N) A, float(N+1) Q) -> (B) { B = g(A, Q) }",
    "expression_for_tensor": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\ndef f(float(N) A) -> (B) { B = g(2.0) }",
    "tensor_for_shape": "def g(float(N) X, int32 k) -> (Y) { Y(i) = X(i + k) }\n"
    "def f(float(N) A, int32(N) I) -> (B) { B = g(A, I(0)) }",
    "argument_and_result": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\n"
    "def f(float(N) A) -> (B) { B(i) = A(i)\n B = g(B) }",
    "subscripted_result": "def g(float(N) X) -> (Y) { Y(i) = X(i) }\ndef f(float(N) A) -> (B) { (B(i)) = g(A) }",
    "unknown": "def f(float(N) A) -> (B) { (B, C) = g(A) }",
}

# What people write who come from Tensor Comprehensions, einsum, NumPy, Halide or C.
HABITS = {
    "c_comment": body("C(m) +=! A(m,k) // the sum of a row"),
    "c_comment_alone": body("// the sum of a row\n    C(m) +=! A(m,k)"),
    "c_comment_block": "/* a copy */\ndef f(float(N) A) -> (B) { B(i) = A(i) }",
    "c_declaration": body("float t = 2.0\n    C(m) = t"),
    "c_loop": body("for (int i = 0; i < M; i++) { C(i) = A(i,0) }"),
    "c_if": body("if m > 0 { C(m) = A(m,0) }"),
    "c_increment": body("C(m)++"),
    "c_parameter": "def f(float A(N)) -> (B) { B(i) = A(i) }",
    "c_const": "def f(const float(N) A) -> (B) { B(i) = A(i) }",
    "c_brackets_of_a_type": "def f(float[N] A) -> (B) { B(i) = A(i) }",
    "c_return": "def f(float(N) A) -> (B) { return A }",
    "c_no_def": "f(float(N) A) -> (B) { B(i) = A(i) }",
    "condition_as_range": body("C(m) +=! A(m,k) where k < m"),
    "condition_as_range_closed": body("C(m) +=! A(m,k) where k <= 2*m, m in 0:3"),
    "condition_as_range_below": body("C(m) +=! A(m,k) where k >= m"),
    "condition_chain_as_range": body("C(m) +=! A(m,k) where 1 <= k < m"),
    "condition_unequal": body("C(m) +=! A(m,k) where k != m"),
    "range_of_one_end": body("C(m) +=! A(m,k) where k in K"),
    "range_of_python": body("C(m) +=! A(m,k) where k in range(1, K), m in 0:2"),
    "range_as_tuple": body("C(m) +=! A(m,k) where k in (0, 3)"),
    "range_as_comprehension": body("C(m) +=! A(m,k) for k in 0:3"),
    "range_with_step": body("C(m) +=! A(m,k) where k in 0:K step 2"),
    "where_misspelt": body("C(m) +=! A(m,k) wher k in 0:3"),
    "for_misspelt": body("fro t in 0:3 { C(m) = A(m,t) }"),
    "exists_misspelt": body("C(m) = 1.0 where exist A(m,0)"),
    "define": "define f(float(N) A) -> (B) { B(i) = A(i) }",
    "size_in_a_range": body("C(d) = 1.0 where d in 0:D"),
    "size_in_a_range_of_other_case": body("C(d) = 1.0 where d in 0:m"),
    "size_as_tensor": "def f(float(N) A, float(N) N) -> (B) { B(i) = A(i) * N(i) }",
    "size_as_output": "def f(float(N) A) -> (N) { N(i) = A(i) }",
    "size_as_temporary": "def f(float(N) A) -> (B) { N(i) = A(i)\n B(i) = N(i) }",
    "size_as_index": "def f(float(m,k) A) -> (B) { B(m,k) = A(m,k) }",
    "unknown_scalar": body("C(m) = A(m,0) + bias"),
    "unknown_scalar_in_a_sum": body("C(m) +=! A(m,k) * scale"),
    "python_true": body("C(m) = P(m) == True"),
    "numpy_transposition": body("C(k,m) = A(m,k).T"),
    "numpy_function": body("C(m) = np.exp(A(m,0))"),
    "numpy_slice": body("C(m) = A(m,:)"),
    "numpy_product": body("C = A @ B"),
    "numpy_last": body("C(m) = A(m,-1)"),
    "numpy_where": body("C(m) = where(P(m), 1, 2)"),
    "numpy_power": body("C(m) = A(m,0) ^ 2"),
    "numpy_annotation": "def f(A: float(N)) -> (B) { B(i) = A(i) }",
    "numpy_colon": "def f(float(N) A) -> (B): B(i) = A(i)",
    "numpy_clip": body("C(m) = clip(A(m,0), 0, 1)"),
    "numpy_len": body("C(m) +=! A(m,k) / len(A)"),
    "einsum": body('C = einsum("mk,kn->mn", A, B)'),
    "halide_var": body("Var x, y\n    C(x,y) = A(x,y)"),
    "halide_select": body("C(m) = select(P(m), 1, 2)"),
    "halide_cast": body("C(m) = cast<double>(A(m,0))"),
    "mathematics_no_operator": body("C(m,k) = 2 A(m,k)"),
    "mathematics_arrow": body("C(m,k) <- A(m,k)"),
    "mathematics_definition": body("C(m,k) := A(m,k)"),
    "reduction_as_function": body("C(m) = max(A(m,k))"),
    "reduction_inverted": body("C(m) =max! A(m,k)"),
    "reduction_spaced": body("C(m) +! = A(m,k)"),
    "reduction_without_equals": body("C(m) max! A(m,k)"),
    "sum_inverted": body("C(m) =+ A(m,k)"),
    "cleared_first": body("C(m) = 0\n    C(m) += A(m,k)"),
    "two_subscripts": body("C(m) = A(m)(0)"),
    "outputs_with_types": "def f(float(N) A) -> float(N) B { B(i) = A(i) }",
    "parameters_with_semicolons": "def f(float(N) A; float(N) B) -> (C) { C(i) = A(i) }",
}

MISTAKES = {
    f"{group}-{name}": text
    for group, texts in {
        "syntax": SYNTAX,
        "names": NAMES,
        "ranks": RANKS,
        "types": TYPES,
        "classes": CLASSES,
        "statements": STATEMENTS,
        "inference": INFERENCE,
        "calls": CALLS,
        "habits": HABITS,
    }.items()
    for name, text in texts.items()
}
