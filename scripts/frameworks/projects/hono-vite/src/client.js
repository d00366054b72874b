const button = document.getElementById("count");
button.addEventListener("click", () => (button.textContent = String(Number(button.textContent) + 1)));
if (location.pathname === "/about") document.querySelector("h1").textContent = "About";
