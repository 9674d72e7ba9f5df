// The page as a screen reader reads it: elements by role and accessible name. Each call wraps this text in a function
// of its own, so it leaves no globals in the page.

const LANDMARKS = { NAV: "navigation", MAIN: "main", ASIDE: "complementary", DIALOG: "dialog" };
const PLAIN = {
  BUTTON: "button", TEXTAREA: "textbox", FIELDSET: "group", DETAILS: "group", UL: "list", OL: "list", LI: "listitem",
  TABLE: "table", TR: "row", TD: "cell", TH: "columnheader", OPTION: "option", ARTICLE: "article",
  H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading", SUMMARY: "button",
};
const INPUTS = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox",
};
// Roles whose name can come from their text.
const NAMED_BY_CONTENT = new Set([
  "button", "link", "heading", "option", "menuitem", "menuitemradio", "menuitemcheckbox", "tab", "treeitem", "row",
  "cell", "columnheader", "checkbox", "radio", "switch", "tooltip", "listitem",
]);

const tidy = (text) => (text ?? "").replace(/\s+/g, " ").trim();

function roleOf(element) {
  const given = tidy(element.getAttribute("role")).split(" ")[0];
  if (given) return given;
  const tag = element.tagName;
  if (tag === "INPUT") return INPUTS[element.type] ?? "textbox";
  if (tag === "SELECT") return element.multiple || element.size > 1 ? "listbox" : "combobox";
  if (tag === "A") return element.hasAttribute("href") ? "link" : "";
  if (tag === "SECTION") return nameOf(element, "region") ? "region" : "";
  return LANDMARKS[tag] ?? PLAIN[tag] ?? "";
}

function contentOf(element) {
  let text = "";
  for (const node of element.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) text += node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || !exposed(node)) continue;
    const apart = getComputedStyle(node).display.startsWith("inline") ? "" : " ";
    text += apart + (node.getAttribute("aria-label") ?? node.getAttribute("alt") ?? contentOf(node)) + apart;
  }
  return tidy(text);
}

function nameOf(element, role) {
  const ids = tidy(element.getAttribute("aria-labelledby")).split(" ").filter(Boolean);
  const labelled = tidy(ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" "));
  if (labelled) return labelled;
  const label = tidy(element.getAttribute("aria-label"));
  if (label) return label;
  const native = tidy([...(element.labels ?? [])].map((label) => label.textContent).join(" "));
  if (native) return native;
  if (element.tagName === "FIELDSET") return tidy(element.querySelector(":scope > legend")?.textContent);
  if (NAMED_BY_CONTENT.has(role) && contentOf(element)) return contentOf(element);
  return tidy(element.getAttribute("title")) || tidy(element.getAttribute("placeholder"));
}

function exposed(element) {
  return !element.closest("[aria-hidden='true'], [inert]") && element.checkVisibility({ visibilityProperty: true });
}

function all(role) {
  return [...document.querySelectorAll("*")].filter((element) => roleOf(element) === role && exposed(element));
}

function find(role, name) {
  return all(role).find((element) => nameOf(element, role) === name) ?? null;
}

// The agent's text: the answers of the conversation, without the prompts.
function said() {
  const log = find("log", "Conversation");
  const answers = log && all("article").filter((element) => log.contains(element));
  return answers && tidy(answers.map((element) => element.innerText).join(" "));
}

const probes = {
  said: (words) => {
    const text = said();
    return text?.includes(words) ? text : null;
  },
  find,
  absent: (role, name) => !find(role, name) || null,
  enabled: (role, name) => {
    const element = find(role, name);
    return element && !element.disabled && element.getAttribute("aria-disabled") !== "true" ? element : null;
  },
  names: (role) => all(role).map((element) => nameOf(element, role)),
  text: (role, name) => find(role, name)?.innerText ?? null,
  value: (role, name) => {
    const element = find(role, name);
    return element && (element.value ?? element.innerText);
  },
  ends: (role, name, words) => (probes.value(role, name) ?? "").endsWith(words) || null,
  attribute: (role, name, attribute) => find(role, name)?.getAttribute(attribute) ?? null,
  has: (role, name, words) => {
    const text = tidy(find(role, name)?.innerText);
    return text.includes(words) ? text : null;
  },
  lacks: (role, name, words) => {
    const element = find(role, name);
    return (element && !tidy(element.innerText).includes(words)) || null;
  },
  shows: (words) => {
    const text = tidy(document.body?.innerText);
    return text.includes(words) ? text : null;
  },
  focused: () => document.hasFocus() || null,
  focus: (wanted) => {
    const element = document.activeElement;
    const role = element && roleOf(element);
    const found = role ? `${role} “${nameOf(element, role)}”` : "";
    return found.includes(wanted) ? found : null;
  },
  all_text: () => document.body?.innerText ?? "",
};

// Runs a probe at once and after every change of the page, until it returns a value.
function settle(probe, parameters, limit, done) {
  const ask = () => probes[probe](...parameters);
  const first = ask();
  if (first !== null) return done(first);
  const finish = (value) => {
    observer.disconnect();
    clearInterval(beat);
    clearTimeout(end);
    done(value);
  };
  const again = () => {
    const value = ask();
    if (value !== null) finish(value);
  };
  const observer = new MutationObserver(again);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  // Focus, values and styles change without a mutation.
  const beat = setInterval(again, 100);
  const end = setTimeout(() => finish(null), limit);
}
