(() => {
  "use strict";
  const page = document.documentElement;
  const KEY = "enough-theme";

  // A browser may refuse storage to a local file; the page then only forgets the choice.
  const remembered = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem(KEY, theme); } catch { /* as above */ } };

  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => page.dataset.theme || (system.matches ? "dark" : "light");
  if (["light", "dark"].includes(remembered())) page.dataset.theme = remembered();
  page.classList.add("has-script");

  const themeButton = () => {
    const button = document.getElementById("theme");
    const name = () => {
      const other = theme() === "dark" ? "Light" : "Dark";
      button.textContent = other;
      button.setAttribute("aria-label", `${other} theme`);
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      page.dataset.theme = theme() === "dark" ? "light" : "dark";
      remember(page.dataset.theme);
      name();
    });
    system.addEventListener("change", name);
    name();
  };

  const menuButton = () => {
    const button = document.getElementById("menu");
    const contents = document.getElementById("contents");
    const open = (is) => button.setAttribute("aria-expanded", String(is));
    button.hidden = false;
    button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"));
    contents.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") open(false); });
  };

  const currentSection = () => {
    const links = [...document.querySelectorAll("#contents a")];
    const targets = links.map((link) => document.getElementById(link.hash.slice(1)));
    let current = null;
    let asked = false;
    const update = () => {
      asked = false;
      const line = innerHeight * 0.3;
      let found = links[0];
      targets.forEach((target, i) => {
        if (target.getBoundingClientRect().top <= line) found = links[i];
      });
      // The last section may be too short to ever reach the line.
      if (innerHeight + scrollY >= page.scrollHeight - 2) found = links[links.length - 1];
      if (found === current) return;
      if (current) current.removeAttribute("aria-current");
      found.setAttribute("aria-current", "true");
      current = found;
      const box = document.getElementById("contents");
      const place = found.offsetTop - box.clientHeight / 2;
      if (box.scrollHeight > box.clientHeight) box.scrollTop = Math.max(0, place);
    };
    const ask = () => { if (!asked) { asked = true; requestAnimationFrame(update); } };
    addEventListener("scroll", ask, { passive: true });
    addEventListener("resize", ask);
    update();
  };

  const copyByHand = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };

  const copyButtons = () => {
    const status = document.querySelector(".status");
    document.querySelectorAll("button.copy").forEach((button) => {
      const label = button.textContent;
      button.hidden = false;
      button.addEventListener("click", async () => {
        let done = true;
        try { await navigator.clipboard.writeText(button.dataset.csv); }
        catch { done = copyByHand(button.dataset.csv); }
        button.textContent = status.textContent = done ? "Copied" : "Could not copy";
        setTimeout(() => { button.textContent = label; status.textContent = ""; }, 1600);
      });
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    themeButton();
    menuButton();
    currentSection();
    copyButtons();
  });
})();
