r"""
A spam filter that learns as mail arrives
=========================================

Mail comes one message at a time; each is judged before its label is known. The honest score is the share of mistakes
along the way. The messages are made here: two changing vocabularies over 5,000 words, 5 % of the labels wrong. For real ones, take
the UCI repository's "SMS Spam Collection" and count its words (scikit-learn's ``CountVectorizer``). Kept as LIBSVM lines with
``dump_svmlight_file``, they are learnt from by ``separatrix learn spam.svm``, too.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx
from scipy import sparse
from sklearn.linear_model import SGDClassifier

rng = np.random.default_rng(0)
messages, words, length = 6000, 5000, 40
spam = rng.random(messages) < 0.3
favourite = rng.dirichlet(np.full(words, 0.02), size=2)
drifted = rng.dirichlet(np.full(words, 0.02), size=2)
common = rng.dirichlet(np.full(words, 0.3))
rows, columns = [], []
for number, kind in enumerate(spam.astype(int)):
    habit = favourite if number < messages // 2 else drifted
    drawn = rng.choice(words, length, p=0.8 * common + 0.2 * habit[kind])
    rows += [number] * length
    columns += drawn.tolist()
X = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(messages, words))
X.sum_duplicates()
y = np.where(spam ^ (rng.random(messages) < 0.05), 1, 0)

# %%
# Three learners see the same stream in pieces of 50, predict each piece, then learn from it.


def stream(model):
    """Mistakes so far, after each piece: predicted before learning."""
    wrong, so_far = 0, []
    for start in range(0, messages, 50):
        part = slice(start, start + 50)
        if start:
            wrong += np.count_nonzero(model.predict(X[part]) != y[part])
        model.partial_fit(X[part], y[part], classes=[0, 1])
        so_far.append(wrong)
    return np.array(so_far)


learners = {
    "perceptron": sx.Perceptron(order="cyclic"),
    "averaged perceptron": sx.Perceptron(order="cyclic", average="averaged"),
    "SGD, log loss": SGDClassifier(loss="log_loss", random_state=0),
}
figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for name, model in learners.items():
    so_far = stream(model)
    seen = np.arange(1, len(so_far) + 1) * 50
    axes.plot(seen, so_far / seen, label=name)
    print(f"{name:22} {so_far[-1] / messages:.3f} of all messages judged wrongly")
print(f"{'never spam':22} {y.mean():.3f}")
print(f"{'the true kind':22} {np.mean(y != spam):.3f}, as so many labels are wrong")
axes.axvline(messages / 2, color="gray", linewidth=0.8)
axes.set(xlabel="messages seen", ylabel="share judged wrongly", ylim=(0, 0.4))
axes.legend()

# %%
# At the grey line the words change. The plain perceptron forgets quickly, the average slowly. The bound that holds for every
# stream, whatever comes, is that of :ref:`chapter 2 <sphx_glr_course_plot_2_online_and_kernels.py>`.
