# The project of the guide's first session.
svcctl init shop --template d1
cd shop
export GIT_REF=refs/heads/cart
