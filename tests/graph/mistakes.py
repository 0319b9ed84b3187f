"""Wrong models, one for every kind of message; the golden files hold what is said about each."""

TYPES = {
    "inner_sizes": "fn main(x: float32[n, 784], w: float32[100, 10]) {\n    matmul(x, w)\n}",
    "rank": "fn main(x: float32[n]) {\n    softmax(x)\n}",
    "element": "fn main(x: float32[n, k], w: double[k, m]) {\n    matmul(x, w)\n}",
    "too_few_arguments": "fn main(x: float32[n, k]) {\n    matmul(x)\n}",
    "positional_size": "fn main(x: float32[1, 3, 8, 8]) {\n    max_pool2d(x, 2, 2, 0)\n}",
    "missing_size": "fn main(x: float32[1, 3, 8, 8]) {\n    max_pool2d(x, k=2)\n}",
    "unknown_size": "fn main(x: float32[1, 3, 8, 8]) {\n    max_pool2d(x, k=2, strid=2, pad=0)\n}",
    "size_not_in_scope": "fn main(x: float32[1, 3, h, w]) {\n    max_pool2d(x, k=hh, stride=2, pad=0)\n}",
    "size_of_a_function": "fn f(x: float32[n]) -> float32[n] { x }\nfn main(x: float32[4]) { f(x, n=4) }",
    "condition_of_an_operator": "fn main(x: float32[1, 3, 8, 8]) {\n    max_pool2d(x, k=2, stride=0, pad=0)\n}",
    "result": "fn main(x: float32[n, 3]) -> float32[n, 4] {\n    softmax(x)\n}",
    "never_equal_sizes": "fn main(x: float32[n], y: float32[n + 1]) {\n    join(x, y)\n}\n"
    "def join(float(N) x, float(N) y) -> (z) { z(i) = x(i) + y(i) }",
    "odd_and_even": "fn main(x: float32[2*n]) -> float32[2*m + 1] {\n    x\n}",
    "branches": "fn main(c: bool, x: float32[n]) {\n    if c { x } else { 1.0 }\n}",
    "condition": "fn main(x: float32[n, k]) {\n    if x { 1 } else { 2 }\n}",
    "cases": "fn main(x: Option<int32>) {\n    match x {\n        None => 1.5\n        Some(y) => y\n    }\n}",
    "not_exhaustive": "fn main(xs: List<(bool, Option<int32>)>) {\n    match xs {\n        Nil => 0\n"
    "        Cons((_, Some(y)), _) => y\n    }\n}",
    "pattern_of_another_type": "fn main(x: Option<int32>) {\n    match x {\n        Nil => 1\n"
    "        Some(y) => y\n    }\n}",
    "fields_of_a_pattern": "fn main(xs: List<int32>) {\n    match xs {\n        Nil => 0\n"
    "        Cons(x) => x\n    }\n}",
    "arguments_of_a_function": "fn f(x: int32, y: int32) -> int32 { x + y }\nfn main() { f(1) }",
    "argument_of_a_function": "fn f(x: int32, y: float32[3]) -> int32 { x }\nfn main(y: float32[4]) {\n    f(1, y)\n}",
    "no_function": "fn main(x: int32) { x(1) }",
    "no_tuple": "fn main(x: int32) { x.0 }",
    "item_of_a_tuple": "fn main(x: int32) { (x, x).2 }",
    "unknown_tuple": "fn main(x) { x.0 }",
    "infinite_type": "fn main() { let f = fn(x) { x(x) }\n f }",
    "not_polymorphic_enough": "fn f<a>(x: a) -> a { x + 1 }\nfn main() { f(1) }",
    "lists_are_of_one_type": "fn main(x: float32[n]) { Cons(x, Cons(1, Nil)) }",
    "cell": "fn main() {\n    let r = ref(1)\n    r := 2.0\n    !r\n}",
    "no_cell": "fn main(x: int32) { !x }",
    "class_of_elements": "fn f<t: integers>(x: t[n], y: t[n]) -> t[n] { x }\nfn main(x: float32[3]) { f(x, x) }",
    "element_may_be_another": "fn f<t: any>(x: t[], y: t[]) { x + y }\nfn main() { f(1, 2) }",
    "literal": "fn main(x: float32) { x + 1 }",
    "annotation": "fn main(x: float32[n]) {\n    let y: float32[n, n] = x\n    y\n}",
    "escaping_size": "fn main(n: int32) {\n    let r = ref(Nil)\n"
    "    let f = fn(x: float32[k]) -> () { r := Cons(x, Nil) }\n    f\n}",
    "untold_size": "fn main(x: float32[n]) -> float32[m] {\n    x\n}",
    "several": "fn main(x: float32[n, 784], w: float32[100, 10]) {\n    %a = matmul(x, w)\n    %b = softmax(1)\n"
    "    (%a, %b, !x)\n}",
}

NAMES = {
    "unknown_name": "fn main(x: float32[n, k]) {\n    sofmax(x)\n}",
    "unknown_local_name": "fn main(first: float32[n]) {\n    frist\n}",
    "unknown_node": "fn main(x: float32[n]) {\n    %hidden = softplus(x)\n    softplus(%hiden)\n}",
    "unknown_type": "fn main(x: Lst<int32>) { x }",
    "unknown_element": "fn main(x: float31[n]) { x }",
    "unknown_constructor": "fn main(xs: List<int32>) { match xs { Empty => 0   Cons(x, _) => x } }",
    "type_arguments": "fn main(xs: List<int32, int32>) { xs }",
    "type_used_as_element": "fn main<t>(x: t[n]) { x }",
    "unused_node": "fn main(x: float32[n]) {\n    %y = softplus(x)\n    x\n}",
    "node_given_twice": "fn main(x: float32[n]) {\n    %y = softplus(x)\n    %y = softplus(%y)\n    %y\n}",
    "two_parameters": "fn main(x: int32, x: int32) { x }",
    "name_twice_in_a_pattern": "fn main(x: (int32, int32)) { match x { (a, a) => a } }",
    "function_twice": "fn f(x: int32) { x }\nfn f(x: int32) { x }",
    "constructor_twice": "type A = One | Two\ntype B = Two | Three\nfn main(x: A) { x }",
    "type_without_values": "type Stream = Next(int32, Stream)\nfn main(x: Stream) { x }",
    "dimension_in_a_type": "type Box = Box(float32[n])\nfn main(x: Box) { x }",
    "reserved": "fn main(match: int32) { match }",
    "outside_its_scope": "fn main(c: bool) {\n    let y = if c { let z = 1\n z } else { 2 }\n    y + z\n}",
}

SYNTAX = {
    "empty": "",
    "no_definition": "main(x) { x }",
    "no_body": "fn main(x: int32)",
    "never_closed": "fn main(x: int32) {\n    if x < 1 { 2 } else { 3 \n}",
    "no_result": "fn main(x: int32) {\n    let y = x\n}",
    "no_else": "fn main(x: int32) {\n    if x < 1 { 2 }\n}",
    "no_comma": "fn main(x: int32) { (x x) }",
    "no_arrow": "fn main(x: Option<int32>) { match x { None = 1 } }",
    "character": "fn main(x: int32) { x ? 1 }",
    "two_on_a_line": "fn main(x: int32) { x x }",
    "number_and_letters": "fn main(x: int32) { (x, 7.5Cons) }",
    "nul": "fn main(x: int32) { \0 }",
    "number": "fn main() { uint8(300) }",
    "number_of_a_type": "fn main() { int32(1.5) }",
    "minus": "fn main(x: int32) { -x }",
    "operator": "def twice(float(N) x) -> (y) { y(i) = 2.0 * z(i) }\nfn main(x: float32[n]) { twice(x) }",
    "no_array": "const#0: float32[3]\nfn main(x: float32[3]) { x }",
    "several": "fn main(x: int32) {\n    let y = x +\n    let z = sofmax(x, x)\n    (y, z\n}\nfn g(x: flot32) { x }",
}

MISTAKES = {
    f"{kind}-{name}": text
    for kind, texts in {"types": TYPES, "names": NAMES, "syntax": SYNTAX}.items()
    for name, text in texts.items()
}
