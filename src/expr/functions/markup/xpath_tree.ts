import type { Evaluation } from "../../evaluate/evaluation.ts";
import type { MarkupNode } from "./select_html.ts";

/** Kinds of nodes, as the DOM numbers them. */
const [ELEMENT, ATTRIBUTE, TEXT, COMMENT, DOCUMENT] = [1, 2, 3, 8, 9] as const;

const XML = "http://www.w3.org/XML/1998/namespace";
const XMLNS = "http://www.w3.org/2000/xmlns/";

interface Made {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly namespaceURI: string | null;
  readonly value: string | null;
}

/**
 * A node as the library sees it. Every move to another node is paid for, and so is every look at a
 * text: the library bounds neither.
 */
export class TreeNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly namespaceURI: string | null;
  readonly prefix: string | null;
  readonly localName: string;
  /** Of an element. */
  readonly attributes: { readonly length: number; item(index: number): TreeNode } | null;
  readonly ownAttributes: TreeNode[] = [];
  readonly children: TreeNode[] = [];
  /** Of an attribute. */
  ownerElement: TreeNode | null = null;
  readonly #run: Evaluation;
  readonly #value: string | null;
  readonly #root: TreeNode | undefined;
  #parent: TreeNode | null = null;
  #next: TreeNode | null = null;
  #previous: TreeNode | null = null;
  /** Its place in the document. */
  readonly #order: number;

  constructor(run: Evaluation, made: Made, order: number, root?: TreeNode) {
    this.#run = run;
    this.#value = made.value;
    this.#order = order;
    this.#root = root;
    this.nodeType = made.nodeType;
    this.nodeName = made.nodeName;
    this.namespaceURI = made.namespaceURI;
    const [prefix, local] = made.nodeName.includes(":") ? made.nodeName.split(":", 2) : [];
    this.prefix = prefix ?? null;
    this.localName = local ?? made.nodeName;
    const own = this.ownAttributes;
    this.attributes = made.nodeType === ELEMENT
      ? {
        get length() {
          return own.length;
        },
        item: (index) => {
          run.spend(1);
          return own[index]!;
        },
      }
      : null;
  }

  get ownerDocument(): TreeNode | null {
    return this.#root ?? null;
  }

  get documentElement(): TreeNode | null {
    return this.children.find(({ nodeType }) => nodeType === ELEMENT) ?? null;
  }

  get parentNode(): TreeNode | null {
    return this.#paid(this.#parent);
  }

  get firstChild(): TreeNode | null {
    return this.#paid(this.children[0] ?? null);
  }

  get nextSibling(): TreeNode | null {
    return this.#paid(this.#next);
  }

  get previousSibling(): TreeNode | null {
    return this.#paid(this.#previous);
  }

  get childNodes(): readonly TreeNode[] {
    this.#run.spend(this.children.length);
    return this.children;
  }

  get nodeValue(): string | null {
    // Functions of the library go through a text by letters.
    this.#run.spend(1 + ((this.#value?.length ?? 0) >> 4));
    return this.#value;
  }

  get value(): string | null {
    return this.nodeValue;
  }

  get data(): string | null {
    return this.nodeValue;
  }

  /** Bits as in the DOM: 4 where the other one follows, 2 where it precedes. */
  compareDocumentPosition(other: TreeNode): number {
    this.#run.spend(1);
    return this.#order < other.#order ? 4 : 2;
  }

  /** The element that has an `id`. */
  getElementById(id: string): TreeNode | null {
    const found = (node: TreeNode): TreeNode | null => {
      this.#run.spend(1);
      if (node.ownAttributes.some((one) => one.nodeName === "id" && one.#value === id)) return node;
      for (const child of node.children) {
        const inside = found(child);
        if (inside) return inside;
      }
      return null;
    };
    return found(this);
  }

  append(child: TreeNode): void {
    const last = this.children.at(-1);
    child.#parent = this;
    if (last) {
      last.#next = child;
      child.#previous = last;
    }
    this.children.push(child);
  }

  /** The string-value as defined by XPath. */
  text(): string {
    if (this.nodeType !== ELEMENT && this.nodeType !== DOCUMENT) return this.nodeValue ?? "";
    const pieces: string[] = [];
    const visit = (node: TreeNode): void => {
      this.#run.spend(1);
      if (node.nodeType === TEXT) pieces.push(node.nodeValue!);
      for (const child of node.children) visit(child);
    };
    visit(this);
    return pieces.join("");
  }

  #paid(node: TreeNode | null): TreeNode | null {
    this.#run.spend(1);
    return node;
  }
}

/** Namespaces by prefix; the default one has the prefix "". */
type Namespaces = Readonly<Record<string, string>>;

/** The document of what was read. */
export function makeTree(run: Evaluation, nodes: readonly MarkupNode[]): TreeNode {
  let order = 0;
  const none = { namespaceURI: null, value: null };
  const root = new TreeNode(run, { nodeType: DOCUMENT, nodeName: "#document", ...none }, order++);
  const make = (made: Made) => new TreeNode(run, made, order++, root);
  const fill = (parent: TreeNode, inside: readonly MarkupNode[], outer: Namespaces): void => {
    for (const node of inside) {
      run.spend(1);
      if (node.type === "text" || node.type === "comment") {
        const isText = node.type === "text";
        const [nodeType, nodeName] = isText ? [TEXT, "#text"] : [COMMENT, "#comment"];
        parent.append(make({ nodeType, nodeName, namespaceURI: null, value: node.data }));
      } else if ("attribs" in node) {
        const spaces = namespacesOf(node.attribs, outer);
        const spaceOf = (name: string) => spaces[name.includes(":") ? name.split(":")[0]! : ""];
        const element = make({
          nodeType: ELEMENT,
          nodeName: node.name,
          namespaceURI: spaceOf(node.name) ?? null,
          value: null,
        });
        for (const [nodeName, value] of Object.entries(node.attribs)) {
          // Without a prefix, an attribute is in no namespace.
          const namespaceURI = /^xmlns(:|$)/.test(nodeName)
            ? XMLNS
            : nodeName.includes(":")
            ? spaceOf(nodeName) ?? null
            : null;
          const attribute = make({ nodeType: ATTRIBUTE, nodeName, namespaceURI, value });
          attribute.ownerElement = element;
          element.ownAttributes.push(attribute);
        }
        parent.append(element);
        fill(element, node.children as readonly MarkupNode[], spaces);
      } else if ("children" in node) {
        // The parts of a CDATA section.
        fill(parent, node.children as readonly MarkupNode[], outer);
      }
    }
  };
  fill(root, nodes, { xml: XML });
  return root;
}

function namespacesOf(attributes: Readonly<Record<string, string>>, outer: Namespaces): Namespaces {
  const own = Object.entries(attributes).filter(([name]) => /^xmlns(:|$)/.test(name));
  if (own.length === 0) return outer;
  return { ...outer, ...Object.fromEntries(own.map(([name, uri]) => [name.slice(6), uri])) };
}
