#!/usr/bin/env python3
"""The networks and programs of tests/networks.hpp and programs.hpp in PyTorch (2.15). Writes tests/data/networks.txt: a line for each has its name and loss, how many weights and inputs, then for each
weight the sum of the absolute values of its gradient, scale, offset and shape, for each input how many integers (0: floating) and shape.
  python3 tests/data/record_networks.py          # writes the file
  python3 tests/data/record_networks.py --time   # us of value and gradients, eager and by torch.compile, on one thread"""
import math
import pathlib
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)


def numbers(shape, seed):
    """From -1/2 to 1/2, the same as networks::number."""
    n = int(np.prod(shape)) if len(shape) else 1
    h = ((np.arange(n, dtype=np.uint64) + 1) * 2654435761 % 2**32) ^ (seed * 40503 % 2**32)
    h = h ^ (h >> 16)
    h = h * 2246822519 % 2**32
    h = h ^ (h >> 13)
    return (h.astype(np.float64) / 2**32 - 0.5).reshape(shape)


class Weights:
    """Made when a network first asks for them, the same ones after that."""

    def __init__(self):
        self.list, self.made, self.next = [], [], 0

    def take(self, *shape, scale=None, one=False):
        if self.next == len(self.list):
            if scale is None:
                scale = 1 / math.sqrt(math.prod(shape[1:]) if len(shape) > 1 else 1)
            scale, offset = round(scale * 3.4641, 6) * (0.1 if one else 1), 1.0 if one else 0.0
            value = torch.tensor((numbers(shape, len(self.list) + 1) * scale + offset).astype(np.float32))
            self.list.append(value.requires_grad_())
            self.made.append((scale, offset))
        self.next += 1
        return self.list[self.next - 1]


def lin(p,x,o,bias=True):
    w=p.take(o,x.shape[-1]); return F.linear(x,w,p.take(o,scale=.1) if bias else None)
def bn(p,x):
    c=x.shape[1]; return F.batch_norm(x,None,None,p.take(c,one=True),p.take(c,scale=.1),True)
def conv(p,x,o,k,s=1,pad=0,g=1,bias=False):
    w=p.take(o,x.shape[1]//g,k,k); return F.conv2d(x,w,p.take(o,scale=.1) if bias else None,s,pad,1,g)
def ln(p,x):
    d=x.shape[-1]; return F.layer_norm(x,[d],p.take(d,one=True),p.take(d,scale=.1))
def rms(p,x):
    d=x.shape[-1]; return F.rms_norm(x,[d],p.take(d,one=True),1e-5)
def block(p,x,o,s):
    y=F.relu(bn(p,conv(p,x,o,3,s,1))); y=bn(p,conv(p,y,o,3,1,1))
    if s!=1 or x.shape[1]!=o: x=bn(p,conv(p,x,o,1,s,0))
    return F.relu(y+x)
def resnet(p,x,t):
    x=F.relu(bn(p,conv(p,x,16,7,2,3))); x=F.max_pool2d(x,3,2,1)
    x=block(p,x,16,1); x=block(p,x,32,2); x=block(p,x,64,2)
    x=F.adaptive_avg_pool2d(x,(1,1)).flatten(1); return F.cross_entropy(lin(p,x,10),t,label_smoothing=0.1)
def mobilenet(p,x,t):
    x=F.hardswish(bn(p,conv(p,x,16,3,2,1)))
    for o,s in ((24,2),(24,1),(40,2)):
        i=x; e=x.shape[1]*3
        y=F.hardswish(bn(p,conv(p,x,e,1))); y=F.relu6(bn(p,conv(p,y,e,3,s,1,e)))
        q=y.mean((2,3),keepdim=True); q=F.relu(conv(p,q,8,1,bias=True)); y=y*F.hardsigmoid(conv(p,q,e,1,bias=True))
        y=bn(p,conv(p,y,o,1)); x=y+i if s==1 and i.shape[1]==o else y
    return F.cross_entropy(lin(p,x.mean((2,3)),10),t)
def gn(p,x,g): c=x.shape[1]; return F.group_norm(x,g,p.take(c,one=True),p.take(c,scale=.1))
def rb(p,x,o):
    y=conv(p,F.silu(gn(p,x,4)),o,3,1,1,bias=True); y=conv(p,F.silu(gn(p,y,4)),o,3,1,1,bias=True)
    return y+(conv(p,x,o,1) if x.shape[1]!=o else x)
def unet(p,x,t):
    x=conv(p,x,8,3,1,1); a=rb(p,x,8); b=rb(p,F.avg_pool2d(a,2),16); c=rb(p,F.max_pool2d(b,2),16)
    w=p.take(16,16,2,2); u=F.conv_transpose2d(c,w,None,2); u=rb(p,torch.cat([u,b],1),16)
    u=F.interpolate(u,scale_factor=2,mode='bilinear',align_corners=False); u=rb(p,torch.cat([u,a],1),8)
    return F.smooth_l1_loss(conv(p,u,3,1,bias=True),t)
def attn(p,x,h,mask=None,causal=False):
    B,T,D=x.shape; qkv=lin(p,x,3*D).reshape(B,T,3,h,D//h).permute(2,0,3,1,4); q,k,v=qkv.unbind(0)
    y=F.scaled_dot_product_attention(q,k,v,mask,0.0,causal); return lin(p,y.transpose(1,2).reshape(B,T,D),D)
def vit(p,x,t):
    x=conv(p,x,64,8,8,bias=True).flatten(2).transpose(1,2); B=x.shape[0]
    x=torch.cat([p.take(1,1,64,scale=.1).expand(B,-1,-1),x],1); x=x+p.take(1,17,64,scale=.1)
    for _ in range(2):
        x=x+attn(p,ln(p,x),4); x=x+lin(p,F.gelu(lin(p,ln(p,x),128)),64)
    return F.cross_entropy(lin(p,ln(p,x)[:,0],10),t)
def bert(p,ids,mask,t):
    B,T=ids.shape; e=p.take(50,32,scale=1.); x=F.embedding(ids,e)+p.take(T,32,scale=.1); x=ln(p,x)
    m=(mask==0)[:,None,None,:]; m=torch.zeros(m.shape).masked_fill(m,-1e9)
    for _ in range(2):
        x=ln(p,x+attn(p,x,4,m)); x=ln(p,x+lin(p,F.gelu(lin(p,x,64),approximate='tanh'),32))
    t=torch.where(ids%5==0,-100,t); return F.cross_entropy((x@e.t()).reshape(-1,50),t.reshape(-1),ignore_index=-100)
def rope(x):
    T,D=x.shape[-2:]; f=1.0/(10000**(torch.arange(0,D,2).float()/D)); a=torch.outer(torch.arange(T).float(),f)
    c,s=a.cos(),a.sin(); x1,x2=x[...,0::2],x[...,1::2]
    return torch.stack([x1*c-x2*s,x1*s+x2*c],-1).flatten(-2)
def gpt(p,ids,t):
    B,T=ids.shape; e=p.take(50,32,scale=.5); x=F.embedding(ids,e)
    for _ in range(2):
        y=rms(p,x); q=lin(p,y,32,False).reshape(B,T,4,8).transpose(1,2); k=lin(p,y,16,False).reshape(B,T,2,8).transpose(1,2); v=lin(p,y,16,False).reshape(B,T,2,8).transpose(1,2)
        q,k=rope(q),rope(k); y=F.scaled_dot_product_attention(q,k,v,is_causal=True,enable_gqa=True)
        x=x+lin(p,y.transpose(1,2).reshape(B,T,32),32,False); y=rms(p,x)
        x=x+lin(p,F.silu(lin(p,y,64,False))*lin(p,y,64,False),32,False)
    x=rms(p,x); lo=F.linear(x,e); return F.cross_entropy(lo[:,:-1].reshape(-1,50),ids[:,1:].reshape(-1))+0*t.sum()
def lstm(p,ids,t):
    e=p.take(50,16,scale=1.); x=F.embedding(ids,e); B,T,_=x.shape; h=torch.zeros(B,24); c=torch.zeros(B,24)
    wi=p.take(96,16); wh=p.take(96,24); b=p.take(96,scale=.1); outs=[]
    for k in range(T):
        i,f,g,o=(F.linear(x[:,k],wi,b)+F.linear(h,wh)).chunk(4,1)
        c=torch.sigmoid(f)*c+torch.sigmoid(i)*torch.tanh(g); h=torch.sigmoid(o)*torch.tanh(c); outs.append(h)
    y=torch.stack(outs,1).max(1).values; return F.binary_cross_entropy_with_logits(lin(p,y,1).squeeze(1),t.float())
def gnn(p,x,src,dst,t):
    n=x.shape[0]
    for o in (16,8):
        h=lin(p,x,o,False); m=torch.zeros(n,o).index_add(0,dst,h.index_select(0,src)); d=torch.zeros(n).index_add(0,dst,torch.ones(src.shape[0]))
        x=F.elu(m/d.clamp(min=1)[:,None]+lin(p,x,o));
        a=F.leaky_relu((x.index_select(0,src)*x.index_select(0,dst)).sum(1),.2); a=a-a.max().detach(); ea=a.exp(); z=torch.zeros(n).scatter_add(0,dst,ea); w=ea/z.gather(0,dst)
        x=torch.zeros(n,o).scatter_add(0,dst[:,None].expand(-1,o),w[:,None]*x[src])
    return F.nll_loss(F.log_softmax(x,1),t)
def vae(p,x,eps):
    h=F.leaky_relu(conv(p,x,8,4,2,1,bias=True),.2); h=F.leaky_relu(conv(p,h,16,4,2,1,bias=True),.2).flatten(1)
    mu,lv=lin(p,h,10),lin(p,h,10); z=mu+torch.exp(.5*lv)*eps; y=F.relu(lin(p,z,16*4*4)).view(-1,16,4,4)
    y=F.relu(F.conv_transpose2d(y,p.take(16,8,4,4),p.take(8,scale=.1),2,1)); y=torch.sigmoid(F.conv_transpose2d(y,p.take(8,1,4,4),p.take(1,scale=.1),2,1))
    kl=-.5*torch.sum(1+lv-mu.pow(2)-lv.exp())/x.shape[0]; return F.binary_cross_entropy(y,x.sigmoid(),reduction='sum')/x.shape[0]+kl
def nerf(p,x,t):
    B,S,_=x.shape; f=2.0**torch.arange(4).float(); e=(x[...,None]*f).flatten(-2); e=torch.cat([x,e.sin(),e.cos()],-1)
    h=e
    for k in range(3): h=F.relu(lin(p,torch.cat([h,e],-1) if k==2 else h,32))
    sg=F.softplus(lin(p,h,1).squeeze(-1)); c=torch.sigmoid(lin(p,h,3)); al=1-torch.exp(-sg*.1)
    tr=torch.cumprod(torch.cat([torch.ones(B,1),1-al+1e-10],1),1)[:,:-1]; w=al*tr
    return F.mse_loss((w[...,None]*c).sum(1),t)+0.01*w.std(1).mean()
def moe(p,x,t):
    g=lin(p,x,4); v,i=torch.topk(g,2,-1); w=torch.zeros_like(g).scatter(-1,i,F.softmax(v,-1))
    w1=p.take(4,16,32); w2=p.take(4,32,16); h=F.gelu(torch.einsum('bd,edh->beh',x,w1)); y=torch.einsum('beh,ehd->bed',h,w2); y=torch.einsum('bed,be->bd',y,w)
    aux=(F.softmax(g,-1).mean(0)*(w>0).float().mean(0)).sum()*4; return F.huber_loss(y,t)+.01*aux
def wavenet(p,x,t):
    w=p.take(8,1,2); x=F.conv1d(F.pad(x,(1,0)),w); skip=0
    for d in (1,2,4,8):
        y=F.pad(x,(d,0)); a=F.conv1d(y,p.take(8,8,2),p.take(8,scale=.1),dilation=d); b=F.conv1d(y,p.take(8,8,2),p.take(8,scale=.1),dilation=d)
        z=torch.tanh(a)*torch.sigmoid(b); skip=skip+F.conv1d(z,p.take(8,8,1)); x=x+F.conv1d(z,p.take(8,8,1))
    return F.cross_entropy(F.conv1d(F.relu(skip),p.take(12,8,1)),t)
def stn(p,x,t):
    l=F.max_pool2d(F.relu(conv(p,x,8,3,1,1,bias=True)),2); th=lin(p,l.flatten(1),6)*.1+torch.tensor([1.,0,0,0,1,0]); g=F.affine_grid(th.view(-1,2,3),list(x.shape),align_corners=False)
    y=F.grid_sample(x,g,mode='bilinear',padding_mode='zeros',align_corners=False); y=F.relu(conv(p,y,8,3,2,bias=True)); return F.multi_margin_loss(lin(p,y.flatten(1),10),t)
def metric(p,x,t):
    z=F.normalize(lin(p,F.relu(lin(p,x,32)),16),dim=1); s=z@z.t()/.2; n=z.shape[0]; m=torch.eye(n,dtype=torch.bool); s=s.masked_fill(m,float('-inf')); pos=(t[:,None]==t[None,:])&~m
    lp=s-torch.logsumexp(s,1,keepdim=True); lp=torch.where(pos,lp,torch.zeros(())); l1=-(lp.sum(1)/pos.sum(1).clamp(min=1)).mean()
    d=torch.cdist(z,z); l2=F.relu(d-.5)[pos].mean(); return l1+l2
def ssm(p,x,t):
    B,T,D=x.shape; A=-torch.exp(p.take(D,4,scale=.5)); dt=F.softplus(lin(p,x,D)); Bm=lin(p,x,4); C=lin(p,x,4); h=torch.zeros(B,D,4); ys=[]
    dA=torch.exp(dt[...,None]*A); dB=dt[...,None]*Bm[:,:,None,:]*x[...,None]
    for k in range(T): h=dA[:,k]*h+dB[:,k]; ys.append((h*C[:,k,None,:]).sum(-1))
    y=torch.stack(ys,1)+x*p.take(D,scale=.5); return (y-t).abs().mean()


def diffusion(p,x0,noise,t):
    w1=p.take(16,12); w2=p.take(8,16)
    betas=torch.linspace(1e-2,0.2,20); ab=torch.cumprod(1-betas,0)[t]; xt=ab.sqrt()[:,None]*x0+(1-ab).sqrt()[:,None]*noise
    f=torch.exp(-math.log(100.)*torch.arange(2)/2); a=t[:,None].float()*f; emb=torch.cat([a.sin(),a.cos()],1)
    h=F.mish(F.linear(torch.cat([xt,emb],1),w1)); return ((F.linear(h,w2)-noise)**2).mean(1).mul(1/(1-ab+.1)).mean()
def flow(p,x):
    w=p.take(4,4)+torch.eye(4); b=p.take(4,scale=.1); s=p.take(2,2); t=p.take(2,2)
    y=x@w.t()+b; ld=torch.linalg.slogdet(w).logabsdet; a,c=y.chunk(2,1); ls=torch.tanh(a@s); c=c*ls.exp()+a@t
    z=torch.cat([a,c],1); return -(-.5*(z**2).sum(1)-2*math.log(2*math.pi)+ld+ls.sum(1)).mean()
def gaussian_process(p,x,y):
    l=p.take(1,scale=.5).exp(); s=p.take(1,scale=.5); d=torch.cdist(x,x)**2; K=torch.exp(-.5*d/l**2)+(s.exp()+.1)*torch.eye(x.shape[0])
    L=torch.linalg.cholesky(K); a=torch.cholesky_solve(y[:,None],L); return .5*(y@a.squeeze(1))+L.diagonal().log().sum()
def kalman(p,z):
    F_=p.take(3,3,scale=.2)+torch.eye(3); H=p.take(2,3); q=F.softplus(p.take(3,scale=.5)); r=F.softplus(p.take(2,scale=.5))+.1
    m=torch.zeros(3); P=torch.eye(3); nll=0
    for k in range(z.shape[0]):
        m=F_@m; P=F_@P@F_.t()+torch.diag(q); S=H@P@H.t()+torch.diag(r); v=z[k]-H@m; K=torch.linalg.solve(S,H@P).t()
        nll=nll+.5*(v@torch.linalg.solve(S,v)+torch.logdet(S)); m=m+K@v; P=(torch.eye(3)-K@H)@P
    return nll/z.shape[0]
def neural_ode(p,x):
    w1=p.take(8,3); w2=p.take(3,8); f=lambda u: torch.tanh(u@w1.t())@w2.t(); h=.1
    for _ in range(8):
        k1=f(x); k2=f(x+h/2*k1); k3=f(x+h/2*k2); k4=f(x+h*k3); x=x+h/6*(k1+2*k2+2*k3+k4)
    return x.norm(dim=1).mean()
def heat(p,u):
    a=torch.sigmoid(p.take(1)); k=p.take(3,3,scale=.1)
    for _ in range(6):
        lap=torch.roll(u,1,1)+torch.roll(u,-1,1)+torch.roll(u,1,2)+torch.roll(u,-1,2)-4*u; u=u+.2*a*lap+F.conv2d(F.pad(u[:,None],(1,1,1,1),mode='circular'),k[None,None])[:,0]
        u=u.clone(); u[:,0,:]=0; u[:,-1,:]=1
    return (u**2).mean()+u[:,3,3].sum()
def option(p,z):
    s=100*torch.exp(p.take(1,scale=.1)); vol=F.softplus(p.take(1,scale=.5)); r=.05; dt=1/16
    path=s*torch.exp(torch.cumsum((r-.5*vol**2)*dt+vol*math.sqrt(dt)*z,1)); asian=torch.relu(path.mean(1)-100); knocked=(path.max(1).values<150).float(); look=path.max(1).values-path.min(1).values
    return math.exp(-r)*(asian*knocked+.1*look).mean()/100
def arm(p,target):
    q=p.take(4); l=F.softplus(p.take(4,scale=.3)); T=torch.eye(3); pts=[]
    for k in range(4):
        c,s=torch.cos(q[k]),torch.sin(q[k]); z=torch.zeros(()); o=torch.ones(())
        R=torch.stack([torch.stack([c,-s,l[k]*c]),torch.stack([s,c,l[k]*s]),torch.stack([z,z,o])]); T=T@R; pts.append(T[:2,2])
    d=torch.stack(pts); return ((d[-1]-target)**2).sum()+.1*torch.relu(.5-(d[1:]-d[:-1]).norm(dim=1)).sum()+.01*(q**2).sum()
def nbody(p,x,v):
    m=p.take(8,scale=.3).exp(); h=.05
    for _ in range(3):
        d=x[None]-x[:,None]; r2=(d**2).sum(-1)+.1; a=(d*(m[None,:]/r2**1.5)[...,None]).sum(1); v=v+h*a; x=x+h*v
    e=.5*(m*(v**2).sum(1)).sum(); d=x[None]-x[:,None]; r=((d**2).sum(-1)+.1).sqrt(); iu=torch.triu_indices(8,8,1); return e-(m[iu[0]]*m[iu[1]]/r[iu[0],iu[1]]).sum()
def kmeans(p,x):
    c=p.take(4,2)
    for _ in range(3):
        a=torch.cdist(x,c).argmin(1); n=torch.zeros(4).index_add(0,a,torch.ones(x.shape[0])); s=torch.zeros(4,2).index_add(0,a,x); c=torch.where((n>0)[:,None],.5*c+.5*s/n.clamp(min=1)[:,None],c)
    d=((x[:,None]-c[None])**2).sum(-1); return -torch.logsumexp(-d,1).mean()
def crf(p,e,tags):
    t=p.take(5,5); s=p.take(5); B,T,_=e.shape; a=s+e[:,0]; sc=s[tags[:,0]]+e[:,0].gather(1,tags[:,:1])[:,0]
    for k in range(1,T):
        a=torch.logsumexp(a[:,:,None]+t[None],1)+e[:,k]; sc=sc+t[tags[:,k-1],tags[:,k]]+e[:,k].gather(1,tags[:,k:k+1]).squeeze(1)
    return (torch.logsumexp(a,1)-sc).mean()
def viterbi(p,e):
    t=p.take(5,5); a=e[:,0]; back=[]
    for k in range(1,e.shape[1]):
        m,i=(a[:,:,None]+t[None]).max(1); a=m+e[:,k]; back.append(i)
    best,j=a.max(1); path=[j]
    for i in reversed(back): j=i.gather(1,j[:,None])[:,0]; path.append(j)
    return best.mean()+.01*torch.stack(path,1).float().mean()
def sinkhorn(p,x,y):
    w=p.take(3,3); C=torch.cdist(x@w,y)**2; n=x.shape[0]; f=torch.zeros(n); g=torch.zeros(n); eps=.5; la=-math.log(n)
    for _ in range(10):
        f=-eps*torch.logsumexp((g[None]-C)/eps+la,1); g=-eps*torch.logsumexp((f[:,None]-C)/eps+la,0)
    return (torch.exp((f[:,None]+g[None]-C)/eps+2*la)*C).sum()
def dqn(p,s,a,r,s2):
    w1=p.take(16,6); w2=p.take(3,16); q=lambda x,u,v: F.linear(F.relu(F.linear(x,u)),v); qa=q(s,w1,w2).gather(1,a[:,None]).squeeze(1)
    with torch.no_grad():
        n=q(s2,w1,w2); best=n.argmax(1,keepdim=True); tq=q(s2,w1*.9,w2*.9).gather(1,best).squeeze(1); y=r+.99*tq*(r>-.5)
    return F.smooth_l1_loss(qa,y)
def ppo(p,s,a,adv,old):
    w=p.take(4,6); lp=F.log_softmax(F.linear(s,w),1); l=lp.gather(1,a[:,None])[:,0]; ratio=torch.exp(l-F.logsigmoid(old)); adv=(adv-adv.mean())/(adv.std()+1e-8)
    return -torch.min(ratio*adv,ratio.clamp(.8,1.2)*adv).mean()-.01*(-(lp.exp()*lp).sum(1)).mean()
def spectral(p,x):
    w=p.take(6,8); u=p.take(6).detach()
    with torch.no_grad():
        for _ in range(3): v=F.normalize(w.t()@u,dim=0); u=F.normalize(w@v,dim=0)
    sg=u@w@v; return F.leaky_relu(F.linear(x,w/sg),.1).square().mean()+.1*torch.linalg.matrix_norm(w,2)
def capsule(p,u):
    w=p.take(6,3,4,5); uh=torch.einsum('bif,ijgf->bijg',u,w); b=torch.zeros(u.shape[0],6,3)
    for k in range(3):
        c=F.softmax(b,2); s=(c[...,None]*uh).sum(1); n=(s**2).sum(-1,keepdim=True); v=n/(1+n)*s/torch.sqrt(n+1e-7)
        if k<2: b=b+(uh*v[:,None]).sum(-1)
    return v.norm(dim=-1).sum(1).mean()
def perceptual(p,x,y):
    w=p.take(4,3,3,3); f=lambda t: F.relu(F.conv2d(t,w,padding=1)); g=lambda t:(lambda h: torch.einsum('bchw,bdhw->bcd',h,h)/(h.shape[1]*h.shape[2]*h.shape[3]))(f(t))
    tv=(x[:,:,1:]-x[:,:,:-1]).abs().mean()+(x[:,:,:,1:]-x[:,:,:,:-1]).abs().mean(); return F.mse_loss(f(x),f(y))+10*F.mse_loss(g(x),g(y))+.1*tv
def detection(p,x,box):
    w=p.take(4,5); b=F.linear(x,w); c=torch.sigmoid(b[:,:2]); wh=b[:,2:].clamp(-1,1).exp()*.3; a=torch.cat([c-wh/2,c+wh/2],1); g=torch.cat([box[:,:2].sigmoid()-.15,box[:,2:].sigmoid()+.15],1)
    lt=torch.maximum(a[:,None,:2],g[None,:,:2]); rb=torch.minimum(a[:,None,2:],g[None,:,2:]); i=(rb-lt).clamp(min=0).prod(-1); ar=lambda t:(t[:,2]-t[:,0])*(t[:,3]-t[:,1]); iou=i/(ar(a)[:,None]+ar(g)[None]-i+1e-6)
    m=iou.max(1); return (1-m.values).mean()+F.smooth_l1_loss(a,g[m.indices])
def alibi(p,x):
    B,T,D=x.shape; w=p.take(3*D,D); h=2; q,k,v=F.linear(x,w).reshape(B,T,3,h,D//h).permute(2,0,3,1,4); pos=torch.arange(T); bias=-(pos[:,None]-pos[None]).abs().float()*torch.tensor([.5,.25])[:,None,None]
    s=q@k.transpose(-2,-1)/math.sqrt(D//h)+bias; s=s.masked_fill(torch.ones(T,T,dtype=torch.bool).triu(1),float('-inf')); return (F.softmax(s,-1)@v).square().mean()
def quantile_loss(p,x,y):
    w=p.take(3,4); q=torch.tensor([.1,.5,.9]); f=F.linear(x,w); e=y[:,None]-f; return torch.max(q*e,(q-1)*e).mean()+.1*torch.quantile(f[:,1],.75)+.1*torch.median(f[:,2])+.01*f.sort(0).values[2:-2].std(0).sum()
def filters(p,x):
    k=p.take(1,1,5); b=p.take(3,scale=.3); y=F.conv1d(F.pad(x[:,None],(2,2),mode='reflect'),k)[:,0]; m=y.unfold(1,8,4).mean(-1); e=torch.zeros(x.shape[0]); out=[]
    for t in range(m.shape[1]): e=torch.sigmoid(b[0])*e+(1-torch.sigmoid(b[0]))*m[:,t]; out.append(e)
    z=torch.stack(out,1); return (z.diff(dim=1)**2).mean()+F.hardtanh(z*b[1]).mean()+torch.logcumsumexp(z,1).mean()*b[2].tanh()
def particles(p,x):
    w=p.take(2,2); v=(x@w).tanh(); cell=((x+2)*2).floor().long().clamp(0,7); idx=cell[:,0]*8+cell[:,1]; d=torch.zeros(64).scatter_add(0,idx,torch.ones(x.shape[0])); mom=torch.zeros(64,2).index_add(0,idx,v); mean=mom/d.clamp(min=1)[:,None]
    return ((v-mean[idx])**2).sum(1).mean()+.01*d.pow(2).mean()+mean.norm()
def pagerank(p,src,dst):
    w=p.take(40).exp(); n=12; out=torch.zeros(n).index_put((src,),w,accumulate=True); r=torch.full((n,),1/n)
    for _ in range(8): r=.15/n+.85*torch.zeros(n).index_add(0,dst,r[src]*w/out[src])
    return (r*torch.log(r+1e-9)).sum()+r.topk(3).values.sum()


def case(f, *inputs):
    return f, inputs


NETWORKS = {
    "resnet": case(resnet, (0, 4, 3, 32, 32), (10, 4)),
    "mobilenet": case(mobilenet, (0, 4, 3, 32, 32), (10, 4)),
    "unet": case(unet, (0, 2, 3, 16, 16), (0, 2, 3, 16, 16)),
    "vit": case(vit, (0, 4, 3, 32, 32), (10, 4)),
    "bert": case(bert, (50, 4, 12), (3, 4, 12), (50, 4, 12)),
    "gpt": case(gpt, (50, 2, 16), (0, 2)),
    "lstm": case(lstm, (50, 4, 10), (2, 4)),
    "gnn": case(gnn, (0, 30, 12), (30, 120), (30, 120), (8, 30)),
    "vae": case(vae, (0, 4, 1, 16, 16), (0, 4, 10)),
    "nerf": case(nerf, (0, 6, 8, 3), (0, 6, 3)),
    "moe": case(moe, (0, 20, 16), (0, 20, 16)),
    "wavenet": case(wavenet, (0, 3, 1, 40), (12, 3, 40)),
    "stn": case(stn, (0, 4, 1, 12, 12), (10, 4)),
    "metric": case(metric, (0, 16, 20), (4, 16)),
    "ssm": case(ssm, (0, 3, 9, 8), (0, 3, 9, 8)),
    "diffusion": case(diffusion, (0, 6, 8), (0, 6, 8), (20, 6)),
    "flow": case(flow, (0, 9, 4)),
    "gaussian_process": case(gaussian_process, (0, 10, 2), (0, 10)),
    "kalman": case(kalman, (0, 6, 2)),
    "neural_ode": case(neural_ode, (0, 5, 3)),
    "heat": case(heat, (0, 2, 8, 9)),
    "option": case(option, (0, 32, 16)),
    "arm": case(arm, (0, 2)),
    "nbody": case(nbody, (0, 8, 3), (0, 8, 3)),
    "kmeans": case(kmeans, (0, 25, 2)),
    "crf": case(crf, (0, 3, 7, 5), (5, 3, 7)),
    "viterbi": case(viterbi, (0, 3, 7, 5)),
    "sinkhorn": case(sinkhorn, (0, 8, 3), (0, 8, 3)),
    "dqn": case(dqn, (0, 10, 6), (3, 10), (0, 10), (0, 10, 6)),
    "ppo": case(ppo, (0, 10, 6), (4, 10), (0, 10), (0, 10)),
    "spectral": case(spectral, (0, 7, 8)),
    "capsule": case(capsule, (0, 3, 6, 5)),
    "perceptual": case(perceptual, (0, 2, 3, 8, 8), (0, 2, 3, 8, 8)),
    "detection": case(detection, (0, 7, 5), (0, 6, 4)),
    "alibi": case(alibi, (0, 2, 6, 8)),
    "quantile_loss": case(quantile_loss, (0, 20, 4), (0, 20)),
    "filters": case(filters, (0, 3, 40)),
    "particles": case(particles, (0, 50, 2)),
    "pagerank": case(pagerank, (12, 40), (12, 40)),
}


def made(f, inputs):
    """The weights of a network, and its inputs."""
    w, x = Weights(), []
    def fill(seed):
        for k, (below, *shape) in enumerate(inputs):
            v = numbers(shape, seed + k + 1)
            x.append(torch.tensor(np.floor((v + 0.5) * below).astype(np.int64) if below else (v * 2).astype(np.float32)))
    with torch.no_grad():
        fill(0)
        f(w, *x)
    x.clear()
    fill(len(w.list))
    return w, x


def value_and_gradients(f, w, x):
    w.next = 0
    loss = f(w, *x)
    return loss, torch.autograd.grad(loss, w.list, allow_unused=True)


def median_us(run):
    for _ in range(3):
        run()
    times = []
    for _ in range(21):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return sorted(times)[10] * 1e6


def record():
    lines = []
    for name, (f, inputs) in NETWORKS.items():
        w, x = made(f, inputs)
        loss, gradients = value_and_gradients(f, w, x)
        words = [name, f"{loss.item():.9g}", len(w.list), len(inputs)]
        for value, (scale, offset), g in zip(w.list, w.made, gradients):
            total = 0.0 if g is None else g.abs().double().sum().item()
            words += [f"{total:.9g}", repr(scale), repr(offset), value.dim(), *value.shape]
        for below, *shape in inputs:
            words += [below, len(shape), *shape]
        lines.append(" ".join(str(word) for word in words))
    path = pathlib.Path(__file__).with_name("networks.txt")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if "--time" not in sys.argv:
        record()
        sys.exit()
    for name, (f, inputs) in NETWORKS.items():
        w, x = made(f, inputs)
        eager = median_us(lambda: value_and_gradients(f, w, x))
        step = torch.compile(lambda: value_and_gradients(f, w, x))
        print(f"{name} {eager:.1f} {median_us(step):.1f}", flush=True)
