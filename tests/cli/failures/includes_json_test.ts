import { testFailuresAt80 } from "../../support/failures_at_80.ts";

/** Tests about an order, and what is printed about each. */
const FAILURES: readonly (readonly [test: string, printed: string])[] = [
  [
    'includes_json(vars.order, {state: "paid"})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {state: "paid"})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {state: "paid"}
+ received: vars.order
@ .state
- "paid"
+ "open"
`,
  ],
  [
    'includes_json(vars.order, {id: is_type("string"), customer: {name: anything()}})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {id: is_type("string"), cust…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {id: is_type("string"), customer: {name: anything()}}
+ received: vars.order
@ .id: it is int
- is_type("string")
+ 7
@ .customer
- {"name":anything()}
+ (missing)
`,
  ],
  [
    'includes_json(vars.order, {items: [{name: "tea"}]})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {items: [{name: "tea"}]})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {items: [{name: "tea"}]}
+ received: vars.order
@ .items: 2 items, not 1
- [{"name":"tea"}]
+ [{"name":"tea","price":3.5},{"name":"milk","price":2}]
`,
  ],
  [
    'includes_json(vars.order, {items: [{name: "tea"}, {price: "/^[0-9]+[.][0-9]{2}$/"}]})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {items: [{name: "tea"}, {pri…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {items: [{name: "tea"}, {price: "/^[0-9]+[.][0-9]{2}$/"}]}
+ received: vars.order
@ .items[1].price
- /^[0-9]+[.][0-9]{2}$/
+ 2
`,
  ],
  [
    'includes_json(vars.order, {tags: unordered(["new", "gift"])})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {tags: unordered(["new", "gi…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {tags: unordered(["new", "gift"])}
+ received: vars.order
@ .tags[1]: in any order
- "new"
+ "express"
`,
  ],
  [
    "includes_json(vars.order, {items: unordered([{price: 2}, {price: 4}])})",
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {items: unordered([{price: 2…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {items: unordered([{price: 2}, {price: 4}])}
+ received: vars.order
@ .items[0]: in any order
- {"price":4}
+ {"name":"tea","price":3.5}
`,
  ],
  [
    'includes_json(vars.order.items, {name: "tea"})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order.items, {name: "tea"})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {name: "tea"}
+ received: vars.order.items
@ the value itself: it is list, not map
- {"name":"tea"}
+ [{"name":"tea","price":3.5},{"name":"milk","price":2}]
`,
  ],
  [
    "includes_json(vars.ordr, {id: 7})",
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.ordr, {id: 7})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | vars has no "ordr"; did you mean "order"?
vars.ordr is nil
`,
  ],
  [
    "includes_json(vars.order, vars.wanted)",
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, vars.wanted)
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: vars.wanted
+ received: vars.order
@ .state
- "paid"
+ "open"
@ .note
- "short"
+ "long long long long long long long long long long long long long lon…
@ .total
- 5.5
+ (missing)
`,
  ],
  [
    'vars.order.id == 7 && includes_json(vars.order, {id: "7"})',
    `
w.yml:15:33: test is false
  15 |           vars.order.id == 7 && includes_json(vars.order, {id: "…
     |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {id: "7"}
+ received: vars.order
@ .id: it is int, not string
- "7"
+ 7
`,
  ],
];

testFailuresAt80(
  `  order:
    id: 7
    state: open
    tags: [gift, express]
    items: [{name: tea, price: 3.5}, {name: milk, price: 2}]
    note: ${"long ".repeat(30)}
  wanted: {state: paid, note: short, total: 5.5}
`,
  FAILURES,
);
