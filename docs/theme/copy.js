// A button in each code block that copies it. Of a shell session it copies the commands, without
// the prompts and the output.
"use strict";

function textOf(block) {
  const text = block.querySelector("pre").textContent;
  if (!block.closest(".highlight-console")) return text;
  const commands = [];
  let inCommand = false;
  for (const line of text.split("\n")) {
    inCommand = line.startsWith("$ ") || (inCommand && line.startsWith("> "));
    if (inCommand) commands.push(line.slice(2));
  }
  return commands.join("\n") + "\n";
}

for (const block of document.querySelectorAll("div.highlight")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    let result = "Copied";
    try {
      await navigator.clipboard.writeText(textOf(block));
    } catch {
      result = "Not copied";
    }
    button.textContent = result;
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}
