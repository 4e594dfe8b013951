// Shows /openapi.json without anything from elsewhere. All text goes in as text, never as markup.
"use strict";

const make = (tag, text = "", kind = "") => {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

const resolve = (api, schema) =>
  schema && schema.$ref ? schema.$ref.slice(2).split("/").reduce((place, key) => place[key], api) : schema || {};

const typeOf = (api, schema) => {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(api, each)).join(" | ");
  if (schema.type === "array") return `list of ${typeOf(api, schema.items || {})}`;
  return schema.enum ? schema.enum.join(" | ") : schema.type || "any";
};

const fields = (api, schema) => {
  const table = make("table");
  for (const [name, field] of Object.entries(schema.properties || {})) {
    const row = table.appendChild(make("tr"));
    row.append(make("td", name), make("td", typeOf(api, field)), make("td", field.description || ""));
  }
  return table;
};

const content = (api, told) => {
  const shown = document.createDocumentFragment();
  for (const [kind, { schema }] of Object.entries(told || {})) {
    const full = resolve(api, schema);
    shown.append(make("h4", kind));
    if (full.description) shown.append(make("p", full.description));
    if (full.properties) shown.append(fields(api, full));
    for (const example of full.examples || []) shown.append(make("pre", JSON.stringify(example, null, 2)));
  }
  return shown;
};

const place = (api, path, method, operation) => {
  const section = make("section");
  const title = section.appendChild(make("h2"));
  title.append(make("span", method.toUpperCase(), "method"), ` ${path}`);
  section.append(make("p", operation.summary || ""), make("p", operation.description || ""));
  for (const each of operation.parameters || []) {
    section.append(make("p", `${each.in} ${each.name}: ${typeOf(api, each.schema || {})}`));
  }
  if (operation.requestBody) section.append(make("h3", "Request"), content(api, operation.requestBody.content));
  section.append(make("h3", "Answers"));
  for (const [status, answer] of Object.entries(operation.responses || {})) {
    if (status.startsWith("2")) section.append(make("p", `${status} ${answer.description}`), content(api, answer.content));
  }
  const refused = make("table");
  for (const [status, answer] of Object.entries(operation.responses || {})) {
    if (status.startsWith("2")) continue;
    const row = refused.appendChild(make("tr"));
    row.append(make("td", status), make("td", answer.description));
  }
  section.append(refused);
  return section;
};

const show = async () => {
  const api = await (await fetch("/openapi.json")).json();
  document.querySelector("#about").textContent = api.info.description;
  const places = document.querySelector("#places");
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) places.append(place(api, path, method, operation));
  }
};

const ask = async (event) => {
  event.preventDefault();
  const token = document.querySelector("#token").value.trim();
  const answer = document.querySelector("#answer");
  const response = await fetch("/v1/ask", {
    method: "POST",
    headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify({ question: document.querySelector("#question").value }),
  });
  answer.hidden = false;
  answer.textContent = `${response.status}\n${JSON.stringify(await response.json(), null, 2)}`;
};

document.querySelector("#ask").addEventListener("submit", ask);
show();
